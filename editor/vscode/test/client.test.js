// What the extension gets from `fencepost lsp`, over the same packages that it uses to talk to it, and whether its
// grammars colour the words as the server does. $FENCEPOST is the program, $EXAMPLES the folder with programs.
"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const { after, before, test } = require("node:test");
const { pathToFileURL } = require("node:url");
const protocol = require("vscode-languageserver-protocol/node");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const HERE = join(__dirname, "..");
const EXAMPLES = process.env.EXAMPLES;
const MANIFEST = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
const SB = readFileSync(join(EXAMPLES, "tutorial", "sb.tpl"), "utf8");

// What a word of each kind of the server can be in a grammar. The others (names) only the server can tell apart.
const SCOPES = {
  keyword: /^(keyword|storage|constant)\./,
  type: /^storage\.type/,
  enumMember: /^constant\.language\.memory-order/,
  method: /^support\.function/,
  number: /^constant\.numeric|^entity\.name\.(function|type)/,
  comment: /^(comment|keyword\.other\.property|string\.unquoted\.property)/,
};

let server, connection, legend;
const published = [];

before(async () => {
  server = spawn(process.env.FENCEPOST, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  connection.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => published.push(params));
  connection.listen();
  const { capabilities } = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    initializationOptions: { showsReports: true },
    capabilities: {
      textDocument: { codeAction: { resolveSupport: { properties: ["edit"] }, codeActionLiteralSupport: {
        codeActionKind: { valueSet: ["quickfix"] } } } },
    },
  });
  legend = capabilities.semanticTokensProvider.legend;
  assert.ok(capabilities.executeCommandProvider.commands.includes("fencepost.checkRobustness"));
  await connection.sendNotification(protocol.InitializedNotification.type, {});
});

after(async () => {
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  connection.dispose();
});

async function open(uri, languageId, text) {
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId, version: 1, text },
  });
}

function execute(command, ...words) {
  return connection.sendRequest(protocol.ExecuteCommandRequest.type, { command, arguments: words });
}

test("a lens asks, a finding is repaired, and the answer is a page", async () => {
  const textDocument = { uri: "file:///sb.tpl" };
  await open(textDocument.uri, "tpl", SB);
  const lenses = await connection.sendRequest(protocol.CodeLensRequest.type, { textDocument });
  const { title, command, arguments: words } = lenses[0].command;
  assert.equal(title, "check robustness (ra)");
  assert.match(await execute(command, ...words), /not robust under ra/);
  const [finding] = published.at(-1).diagnostics;
  assert.equal(finding.code, "not-robust");

  const shown = (await connection.sendRequest(protocol.CodeLensRequest.type, { textDocument }))[0].command;
  const commands = MANIFEST.contributes.commands.map((each) => each.command);
  assert.ok(commands.includes(shown.command), "the extension has the command of the lens");
  assert.match(await execute("fencepost.report", ...shown.arguments), /^<!doctype html>/);

  const [action] = await connection.sendRequest(protocol.CodeActionRequest.type, {
    textDocument,
    range: finding.range,
    context: { diagnostics: [finding] },
  });
  const { edit } = await connection.sendRequest(protocol.CodeActionResolveRequest.type, action);
  const inserted = edit.changes[textDocument.uri].map((each) => each.newText.trim());
  assert.deepEqual(inserted, ["fence;", "fence;"]);
});

test("what is offered while an access is typed", async () => {
  const textDocument = { uri: "file:///typing.tpl" };
  await open(textDocument.uri, "tpl", "global x;\nfn t { x.store(1, \n");
  const position = { line: 1, character: 18 };
  const offered = await connection.sendRequest(protocol.CompletionRequest.type, { textDocument, position });
  assert.deepEqual(offered.map((each) => each.label), ["rlx", "rel", "seq_cst"]);
  const help = await connection.sendRequest(protocol.SignatureHelpRequest.type, { textDocument, position });
  assert.equal(help.signatures[help.activeSignature].parameters[help.activeParameter].label, "order");
});

test("the models of the settings are those of the lenses", async () => {
  const textDocument = { uri: "file:///models.tpl" };
  await open(textDocument.uri, "tpl", SB);
  const lenses = await connection.sendRequest(protocol.CodeLensRequest.type, { textDocument });
  const models = lenses.map((each) => each.command.arguments[1]);
  assert.deepEqual(models, MANIFEST.contributes.configuration.properties["fencepost.model"].enum);
});

for (const [language, folder] of [["tpl", "tutorial"], ["litmus", "litmus-c"]]) {
  test(`the grammar of ${language} agrees with the server`, async () => {
    const grammar = await grammarOf(language);
    const files = readdirSync(join(EXAMPLES, folder)).filter((name) => name.endsWith(`.${language}`));
    for (const name of files.slice(0, 20)) {
      const path = join(EXAMPLES, folder, name);
      const text = readFileSync(path, "utf8");
      const textDocument = { uri: pathToFileURL(path).href };
      await open(textDocument.uri, language, text);
      const tokens = await connection.sendRequest(protocol.SemanticTokensRequest.type, { textDocument });
      const scopes = scopesOf(grammar, text);
      for (const { line, column, length, kind } of unpacked(tokens.data)) {
        const scope = scopes[line].find((each) => each.startIndex <= column && column < each.endIndex);
        const word = text.split("\n")[line].slice(column, column + length);
        const inner = scope.scopes.at(-1);
        if (kind in SCOPES) assert.match(inner, SCOPES[kind], `${name}:${line + 1}: ${word} is a ${kind}`);
        else assert.doesNotMatch(inner, /^(comment|constant)/, `${name}:${line + 1}: ${word} is a ${kind}`);
      }
    }
    assert.ok(files.length > 5);
  });
}

async function grammarOf(language) {
  const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const { scopeName, path } = MANIFEST.contributes.grammars.find((each) => each.language === language);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(readFileSync(join(HERE, path), "utf8"), path),
  });
  return registry.loadGrammar(scopeName);
}

function scopesOf(grammar, text) {
  let state = textmate.INITIAL;
  return text.split("\n").map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens;
  });
}

function unpacked(data) {
  const words = [];
  let line = 0;
  let column = 0;
  for (let at = 0; at < data.length; at += 5) {
    column = data[at] ? data[at + 1] : column + data[at + 1];
    line += data[at];
    words.push({ line, column, length: data[at + 2], kind: legend.tokenTypes[data[at + 3]] });
  }
  return words;
}
