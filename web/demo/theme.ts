import { store, stored } from "./storage.ts";
import { onLanguage, words } from "./texts/words.ts";

const KEY = "vitrine-theme";
const wish = matchMedia("(prefers-color-scheme: dark)");

const listeners: (() => void)[] = [];
const isDark = () => document.documentElement.dataset.theme === "dark";

/** Redraws in the theme of now, in another one, and when the picture has another size. */
export function followLook(state: { dark: boolean }, picture: Element, redraw: () => void): void {
  const look = () => {
    state.dark = isDark();
    redraw();
  };
  listeners.push(look);
  look();
  new ResizeObserver(redraw).observe(picture);
}

/** Follows the system's theme until the button is used. */
export function followTheme(button: HTMLElement): void {
  let own = stored(KEY);
  const apply = () => {
    const dark = own === null ? wish.matches : own === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.title = dark ? words.theme.useLight : words.theme.useDark;
    button.setAttribute("aria-label", button.title);
    for (const changed of listeners) changed();
  };
  button.addEventListener("click", () => {
    own = isDark() ? "light" : "dark";
    store(KEY, own);
    apply();
  });
  wish.addEventListener("change", apply);
  onLanguage(apply);
  apply();
}
