(() => {
  "use strict";
  const SIZE = 50;
  const table = document.getElementById("queue"), body = table.tBodies[0], rows = [...body.rows];
  const cases = JSON.parse(document.getElementById("cases").textContent);
  const byId = id => document.getElementById(id);
  const find = byId("find"), count = byId("count"), flagged = byId("flagged"), explored = byId("explored");
  const text = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
  let order = rows, page = 0;

  const make = (tag, words, name) => {
    const made = document.createElement(tag);
    if (words !== undefined) made.textContent = words;
    if (name) made.className = name;
    return made;
  };
  const percent = p => p < 0.001 ? "under 0.1 %" : p > 0.999 ? "over 99.9 %"
    : (100 * p).toFixed(Math.min(p, 1 - p) < 0.0095 ? 1 : 0) + " %";

  const close = row => {
    row.setAttribute("aria-expanded", "false");
    const next = row.nextElementSibling;
    if (next && next.classList.contains("case")) next.remove();
  };
  const show = () => {
    for (const row of rows) close(row);
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = order.filter(row => words.every(word => text.get(row).includes(word))
      && (!flagged.checked || "flagged" in row.dataset) && (!explored || !explored.checked || "explored" in row.dataset));
    const pages = Math.max(1, Math.ceil(found.length / SIZE));
    page = Math.min(page, pages - 1);
    const shown = new Set(found.slice(page * SIZE, (page + 1) * SIZE));
    for (const row of order) row.hidden = !shown.has(row);
    count.textContent = `${found.length} of ${rows.length} rows`;
    byId("page").textContent = `page ${page + 1} of ${pages}`;
    byId("before").disabled = page === 0;
    byId("after").disabled = page === pages - 1;
  };
  const again = () => { page = 0; show(); };
  for (const control of [find, flagged, explored]) if (control) control.addEventListener("input", again);
  byId("before").addEventListener("click", () => { page -= 1; show(); });
  byId("after").addEventListener("click", () => { page += 1; show(); });

  [...table.tHead.rows[0].cells].forEach((head, place) => head.firstElementChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const numeric = head.classList.contains("n");
    const key = row => row.cells[place].dataset.value ?? row.cells[place].textContent;
    order = [...rows].sort((a, b) => {
      const one = key(a), other = key(b);
      if (one === "" || other === "") return (one === "") - (other === "");  // empty cells come last, up or down
      const apart = numeric ? Number(one) - Number(other) : one.localeCompare(other, undefined, {numeric: true});
      return up ? apart : -apart;
    });
    for (const row of rows) close(row);
    body.append(...order);
    again();
  }));

  const line = (title, node) => { const row = make("tr"); row.append(make("th", title), node); return row; };
  const bars = reasons => {
    const box = make("div", undefined, "effects");
    for (const reason of reasons) {
      const bar = make("div", undefined, "effect");
      bar.append(make("span", reason.sentence));
      const track = make("i"), fill = make("b");
      fill.style.marginLeft = `${100 * reason.without}%`;
      fill.style.width = `${Math.max(1, 100 * (reason.probability - reason.without))}%`;
      track.append(fill);
      bar.append(track);
      box.append(bar);
    }
    return box;
  };
  const alike = (found, cells) => {
    const box = make("div", undefined, "alikes");
    for (const other of found) {
      const card = make("div", undefined, "alike");
      const head = make("p");
      head.append(make("span", other.positive ? "known positive" : "known negative", other.positive ? "badge yes" : "badge hit"),
        ` ${other.name}, distance ${other.distance.toPrecision(2)}`);
      card.append(head);
      if (other.differ.length) {
        const inner = make("table"), top = make("tr");
        for (const title of ["differs in", "this case", "the other"]) top.append(make("th", title));
        inner.append(top);
        for (const d of other.differ) {
          const row = make("tr");
          row.append(make("td", d.title), make("td", d.own), make("td", d.other));
          inner.append(row);
        }
        card.append(inner);
      }
      if (other.agree.length) card.append(make("p", `Alike in ${other.agree.join(", ")}.`, "caption"));
      box.append(card);
    }
    return box;
  };
  const open = row => {
    const known = cases[row.dataset.case];
    if (!known) return;
    row.setAttribute("aria-expanded", "true");
    const detail = make("tr", undefined, "case"), cell = make("td"), box = make("div", undefined, "inside");
    cell.colSpan = row.cells.length;
    const money = known.money === null ? "" : `, expected money ${Math.round(known.money).toLocaleString("en")}`;
    box.append(make("h3", `Probability ${percent(known.probability)}${money}`));
    if (known.reasons.length) {
      for (const reason of known.reasons) reason.probability = known.probability;
      box.append(make("h4", "Reasons"), bars(known.reasons));
    }
    if (known.rule) box.append(make("h4", "The rule that it falls under"), make("p", known.rule));
    if (known.inside.length) box.append(make("p", `It lies in the ellipsoid of ${known.inside.join(", ")}.`));
    if (known.links.length) {
      box.append(make("h4", "Shared with known positives"));
      for (const link of known.links) box.append(make("p",
        `${link.title} ${link.value}: ${link.n_positives} known positive of ${link.n_rows} rows (${link.positives.join(", ")}${link.n_positives > link.positives.length ? ", …" : ""}).`));
    }
    if (known.look_alikes.length) box.append(make("h4", "Known rows that it resembles"), alike(known.look_alikes));
    const all = make("table", undefined, "cells");
    for (const c of known.cells) {
      const value = make("td", c.value);
      if (c.usual !== null && c.usual !== c.value) value.append(make("small", `usual ${c.usual}`));
      const made = line(c.title, value);
      if (c.telling) made.className = "telling";
      all.append(made);
    }
    box.append(make("h4", "All cells"), all);
    cell.append(box);
    detail.append(cell);
    row.after(detail);
  };
  const toggle = row => { if (row.getAttribute("aria-expanded") === "true") close(row); else open(row); };
  for (const row of rows) {
    row.addEventListener("click", () => { if (!String(getSelection())) toggle(row); });
    row.addEventListener("keydown", event => { if (event.key === "Enter") toggle(row); });
  }
  show();
  addEventListener("beforeprint", () => { for (const row of rows) row.hidden = false; });
  addEventListener("afterprint", show);
})();
