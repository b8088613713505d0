"""An empty FastAPI route, served as `scarce serve` serves its own: the least that a service can take."""

from __future__ import annotations

import sys

import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.post("/")
async def empty() -> dict[str, str]:
    return {}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", server_header=False)
