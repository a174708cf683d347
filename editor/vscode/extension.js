// The extension: starts `fencepost lsp` for programs in TPL and C litmus tests, asks about robustness, and shows
// an answer as a page beside the program. What the server knows, vscode-languageclient brings to the editor.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["tpl", "litmus"];

let client;
let panel;

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("fencepost.check", check),
    vscode.commands.registerCommand("fencepost.showReport", showReport),
    vscode.commands.registerCommand("fencepost.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("fencepost.command") || change.affectsConfiguration("fencepost.timeout")) {
        restart();
      }
    }),
  );
  await start();
}

async function deactivate() {
  await client?.stop();
}

async function start() {
  const settings = vscode.workspace.getConfiguration("fencepost");
  const command = settings.get("command");
  const server = { command, args: ["lsp", "--timeout", String(settings.get("timeout"))] };
  client = new LanguageClient("fencepost", "fencepost", server, {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    initializationOptions: { showsReports: true },
  });
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `fencepost: cannot start \`${command} lsp\`. Install fencepost with the extra \`lsp\`, or say in the settings ` +
        `where it is. (${error.message ?? error})`,
      "Open Settings",
    );
    if (choice) vscode.commands.executeCommand("workbench.action.openSettings", "fencepost.command");
  }
}

async function restart() {
  const old = client;
  client = undefined;
  await old?.stop().catch(() => {}); // it may never have started
  await start();
}

// Ask the server about the program in the active editor.
async function check() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !LANGUAGES.includes(document.languageId)) return;
  await ask("fencepost.checkRobustness", [document.uri.toString(), chosenModel()]);
}

// The page of an answer, in a panel beside the program; there is one panel.
async function showReport(uri, model) {
  const document = vscode.window.activeTextEditor?.document;
  uri ??= document?.uri.toString();
  if (!uri) return;
  const page = await ask("fencepost.report", [uri, model ?? chosenModel()]);
  if (!page) return; // the server has said why
  if (!panel) {
    const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    panel = vscode.window.createWebviewPanel("fencepost", "fencepost", beside, { enableScripts: true });
    panel.onDidDispose(() => (panel = undefined));
  }
  panel.title = `fencepost: ${vscode.Uri.parse(uri).path.split("/").pop()}`;
  panel.webview.html = page; // its own Content-Security-Policy lets nothing in but its own style and script
  panel.reveal(undefined, true);
}

function chosenModel() {
  return vscode.workspace.getConfiguration("fencepost").get("model");
}

function ask(command, words) {
  if (!client?.isRunning()) {
    vscode.window.showErrorMessage("fencepost: the language server does not run");
    return undefined;
  }
  const progress = { location: vscode.ProgressLocation.Window, title: "fencepost: searching" };
  return vscode.window.withProgress(progress, () =>
    client.sendRequest("workspace/executeCommand", { command, arguments: words }),
  );
}

module.exports = { activate, deactivate };
