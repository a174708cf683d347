// One search: the request goes out, lines come back until there is an end.

/**
 * The last line of the search, with `answer`, `mistake` or `failure`; `progressed` is told on the way.
 * To abort the signal closes the connection, and with it the server ends the search.
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
    return end;
  } catch (error) {
    return { failure: signal.aborted ? "cancelled" : `the playground cannot be reached (${error.message})` };
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
