// The colour scheme: what the system prefers, unless the visitor has chosen. Runs before the page is drawn.
(() => {
  const KEY = "fencepost.theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  const isDark = () => (chosen ? chosen === "dark" : system.matches);
  const apply = () => {
    document.documentElement.style.colorScheme = chosen === "dark" || chosen === "light" ? chosen : "";
    document.dispatchEvent(new CustomEvent("themechange", { detail: isDark() }));
  };
  window.theme = {
    isDark,
    toggle() {
      const wanted = isDark() ? "light" : "dark";
      chosen = (wanted === "dark") === system.matches ? null : wanted;
      try {
        if (chosen) localStorage.setItem(KEY, chosen);
        else localStorage.removeItem(KEY);
      } catch {
        // As above.
      }
      apply();
    },
  };
  system.addEventListener("change", apply);
  apply();
})();
