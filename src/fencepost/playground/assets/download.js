// The answer as files, each made by the server with the answer itself.
const TYPES = { html: "text/html", svg: "image/svg+xml", json: "application/json", sarif: "application/json" };

/** `answer` gives the answer that is shown and its name, or null. */
export function makeDownloads(menu, answer) {
  menu.addEventListener("toggle", () => {
    const files = answer()?.files ?? {};
    for (const button of menu.querySelectorAll("button")) button.disabled = !(button.dataset.kind in files);
  });
  menu.addEventListener("click", (click) => {
    const kind = click.target.closest("button")?.dataset.kind;
    const shown = answer();
    if (!kind || !shown) return;
    menu.open = false;
    save(`${shown.name}.${kind}`, new Blob([shown.files[kind]], { type: TYPES[kind] }));
  });
  const close = (event) => {
    if (menu.open && !menu.contains(event.target)) menu.open = false;
  };
  document.addEventListener("pointerdown", close);
  document.addEventListener("focusin", close);
  menu.addEventListener("keydown", (key) => {
    if (key.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
