/** Chooses the page's language: by the address, by hand or by the browser. */
import { store, stored } from "../storage.ts";
import { speak, tellLanguage, type StorySentences, type Translation, words } from "./words.ts";

interface Language {
  page: Translation;
  sentences: StorySentences;
}

/** The tag is the code, but for Serbian, which is in Latin letters, and Chinese. */
const LANGUAGES: Record<string, { name: string; tag?: string; load: () => Promise<Language> }> = {
  en: { name: "English", load: () => import("virtual:language/en") },
  de: { name: "Deutsch", load: () => import("virtual:language/de") },
  fr: { name: "Français", load: () => import("virtual:language/fr") },
  sr: { name: "Srpski", tag: "sr-Latn", load: () => import("virtual:language/sr") },
  es: { name: "Español", load: () => import("virtual:language/es") },
  zh: { name: "中文", tag: "zh-Hans", load: () => import("virtual:language/zh") },
};

/** The first language that the page has: in the address (?lang=de), chosen earlier, the browser's. */
export function languageFor(address: string, earlier: string | null, preferred: readonly string[]): string {
  const parameter = new URL(address).searchParams.get("lang");
  const codes = [parameter, earlier, ...preferred].map((tag) => tag?.toLowerCase().split("-")[0] ?? "");
  return codes.find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

const KEY = "vitrine-language";
let current = "en";
let turns = 0;

/** @param say tells the visitor that a language did not load. */
export function followLanguage(select: HTMLSelectElement, say: (text: string) => void): void {
  const show = async (code: string) => {
    const turn = ++turns;
    select.value = code;
    if (code === current) return;
    try {
      const language = await LANGUAGES[code].load();
      if (turn === turns) speakHere(code, language);
    } catch {
      if (turn !== turns) return;
      select.value = current;
      say(words.language.failed(LANGUAGES[code].name, LANGUAGES[current].name));
    }
  };
  select.addEventListener("change", () => {
    store(KEY, select.value);
    forget();
    void show(select.value);
  });
  void show(languageFor(location.href, stored(KEY), navigator.languages));
}

/** Loads the sentences of the story in the language that is shown: English is in the HTML, and its file comes only now. */
export async function loadSentences(): Promise<void> {
  const code = current, language = await LANGUAGES[code].load();
  if (code === current) adopt(code, language);
}

function adopt(code: string, { page, sentences }: Language): string {
  const { tag = code } = LANGUAGES[code];
  current = code;
  speak(page, sentences, tag);
  return tag;
}

function speakHere(code: string, language: Language): void {
  const { page } = language;
  document.documentElement.lang = adopt(code, language);
  document.getElementById("language-code")!.textContent = code.toUpperCase();
  translate(page);
  tellLanguage();
}

// ---- The texts of the HTML --------------------------------------------------

type Block = Readonly<Record<string, unknown>>;

/** The text of "page.title"; undefined if the language lacks it. */
function textOf(translation: Translation, key: string): string | undefined {
  const [block, name] = key.split(".");
  const text = (translation as Record<string, Block | undefined>)[block]?.[name];
  return typeof text === "string" ? text : undefined;
}

/** Each element's children in English order. */
const children = new WeakMap<Element, Element[]>();

function translate(translation: Translation): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-text]")) {
    const text = textOf(translation, element.dataset.text!);
    if (text !== undefined) write(element, text);
  }
  for (const element of document.querySelectorAll<HTMLElement>("[data-attributes]")) {
    for (const pair of element.dataset.attributes!.split(" ")) {
      const [name, key] = pair.split("=");
      const text = textOf(translation, key);
      if (text !== undefined) element.setAttribute(name, text);
    }
  }
}

/** Writes a text around the element's children: {1} is the place of the first. */
function write(element: HTMLElement, text: string): void {
  const inside = children.get(element) ?? [...element.children];
  children.set(element, inside);
  const parts = text.split(/\{(\d)\}/);
  element.replaceChildren(...parts.map((part, index) => (index % 2 ? inside[Number(part) - 1] : part)));
}

/** Takes the language out of the address, which would win over the choice at the next load. */
function forget(): void {
  const url = new URL(location.href);
  url.searchParams.delete("lang");
  history.replaceState(history.state, "", url);
}
