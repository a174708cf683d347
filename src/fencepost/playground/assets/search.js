// One search: the request goes out, lines come back until there is an end.

const AGAIN = 1500; // milliseconds until a busy server is asked again

/**
 * The last line of the search, with `answer`, `mistake`, `unasked` or `failure`; `progressed` is told on the
 * way. `busy` is set if the server has no room for it now, `aborted` if the signal ended it: that closes the
 * connection, and with it the server ends the search.
 */
export async function search(request, signal, progressed) {
  try {
    const response = await fetch("/api/search", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
      signal,
    });
    let end = { failure: "the server ended the connection" };
    for await (const line of lines(response.body)) {
      const said = JSON.parse(line);
      if (said.progress !== undefined) progressed(said.progress);
      else end = said;
    }
    return response.status === 429 ? { ...end, busy: true } : end;
  } catch (error) {
    if (signal.aborted) return { failure: "cancelled", aborted: true };
    return { failure: `the playground cannot be reached (${error.message})` };
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts;
  }
  if (rest) yield rest;
}

/** The same, but as often as it takes until the server has room for it. */
export async function patientSearch(request, signal, progressed) {
  for (;;) {
    const end = await search(request, signal, progressed);
    if (!end.busy || signal.aborted) return end;
    await pause(AGAIN, signal);
  }
}

/** Wait, unless the signal ends it. */
function pause(milliseconds, signal) {
  return new Promise((resume) => {
    const timer = setTimeout(resume, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resume()), { once: true });
  });
}
