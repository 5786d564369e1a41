import { onLanguage, words } from "./texts/words.ts";

const wish = matchMedia("(prefers-color-scheme: dark)");

/** Follows the system's theme until the button is used. Each change calls `changed`. */
export function followTheme(button: HTMLElement, changed: (dark: boolean) => void): void {
  let own = stored();
  const apply = () => {
    const dark = own === undefined ? wish.matches : own === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.title = dark ? words.theme.useLight : words.theme.useDark;
    button.setAttribute("aria-label", button.title);
    changed(dark);
  };
  button.addEventListener("click", () => {
    own = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    store(own);
    apply();
  });
  wish.addEventListener("change", apply);
  onLanguage(apply);
  apply();
}

// Storage may be forbidden; the choice then lasts as long as the page.
function stored(): string | undefined {
  try {
    return localStorage.getItem("vitrine-theme") ?? undefined;
  } catch {
    return undefined;
  }
}

function store(theme: string): void {
  try {
    localStorage.setItem("vitrine-theme", theme);
  } catch {
    return;
  }
}
