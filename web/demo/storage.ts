/** What the browser keeps as text. Storage may be forbidden or full; a choice then lasts as long as the page. */
type Storage = "localStorage" | "sessionStorage";

export function stored(key: string, storage: Storage = "localStorage"): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** @returns whether the text is kept. */
export function store(key: string, text: string, storage: Storage = "localStorage"): boolean {
  try {
    window[storage].setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
