"use strict";
// Keys: j and k move, Enter opens, 1, 2 and 3 decide, u undoes, q goes to the queue, / finds.
(() => {
  const one = (selector) => document.querySelector(selector);
  const rows = () => [...document.querySelectorAll("#queue a.case")];

  function move(step) {
    const links = rows();
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const next = links[Math.min(Math.max(at + step, 0), links.length - 1)];
    next.focus();
    next.closest("tr").scrollIntoView({ block: "nearest" });
  }

  function follow(selector) {
    const link = one(selector);
    if (link) link.click();
  }

  function send(form, button) {
    // A second press must not send a verdict about the case that comes next.
    if (!form || form.dataset.sent) return;
    form.dataset.sent = "yes";
    form.requestSubmit(button || undefined);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest("input, textarea, select");
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    const onCase = one("#case");
    const keys = {
      j: () => (onCase ? follow("#next") : move(1)),
      k: () => (onCase ? follow("#previous") : move(-1)),
      u: () => send(one("#undo")),
      q: () => follow('nav a[href="/"]'),
      "/": () => one("#text") && one("#text").focus(),
    };
    const button = one(`#verdict button[data-key="${CSS.escape(event.key)}"]`);
    if (button) keys[event.key] = () => send(one("#verdict"), button);
    if (!keys[event.key] || event.repeat) return;
    event.preventDefault();
    keys[event.key]();
  });

  const left = one("#case") && one("#case").dataset.leave;
  if (left) {
    addEventListener("pagehide", () => {
      const form = new FormData();
      form.set("csrf", document.body.dataset.csrf);
      // A page that is loaded again takes its lock before this is sent, and keeps it.
      form.set("until", one("#case").dataset.until);
      navigator.sendBeacon(left, form);
    });
  }
  // A page from the browser's memory shows a lock and a verdict that may be old.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
})();
