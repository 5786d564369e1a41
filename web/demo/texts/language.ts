/** Chooses the page's language: by the address, by hand or by the browser. */
import addresses from "virtual:languages";
import { once } from "../once.ts";
import { store, stored } from "../storage.ts";
import { type Language, speak, tellLanguage, words } from "./words.ts";
import type { Sentences } from "./sentences.ts";

/** What loads each language's file. */
const load = Object.fromEntries(Object.entries(addresses).map(([code, address]) => [code, once(async (): Promise<Language> => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(address);
  return answer.json();
})]));

/** The first language that the page has: in the address (?lang=de), chosen earlier, the browser's. */
export function languageFor(address: string, earlier: string | null, preferred: readonly string[]): string {
  const parameter = new URL(address).searchParams.get("lang");
  const codes = [parameter, earlier, ...preferred].map((tag) => tag?.toLowerCase().split("-")[0] ?? "");
  return codes.find((code) => Object.hasOwn(addresses, code)) ?? "en";
}

/** Its text is the language's name, and its `lang` the tag. */
const optionOf = (code: string) => document.querySelector<HTMLOptionElement>(`#language [value=${code}]`)!;

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
      const language = await load[code]();
      if (turn === turns) speakHere(code, language);
    } catch {
      if (turn !== turns) return;
      select.value = current;
      say(words.language.failed({ wanted: optionOf(code).text, stays: optionOf(current).text }));
    }
  };
  select.addEventListener("change", () => {
    store(KEY, select.value);
    forget();
    void show(select.value);
  });
  void show(languageFor(location.href, stored(KEY), navigator.languages));
}

/** Loads the sentences of all parts in the language that is shown. English is in the HTML and the first script, and its file comes only now. */
export async function loadSentences(): Promise<void> {
  const code = current, language = await load[code]();
  if (code === current) adopt(code, language);
}

function adopt(code: string, language: Language): void {
  current = code;
  speak(language, (document.documentElement.lang = optionOf(code).lang));
}

function speakHere(code: string, language: Language): void {
  adopt(code, language);
  document.getElementById("language-code")!.textContent = code.toUpperCase();
  translate(language.page);
  tellLanguage();
}

// ---- The texts of the HTML --------------------------------------------------

/** The text of "page.title". The third tab marks its answer with a data-text that is no key: undefined. */
function textOf(texts: Sentences, key: string): string | undefined {
  const [block, name] = key.split(".");
  return (texts[block] as Sentences | undefined)?.[name] as string | undefined;
}

/** Each element's children in English order. */
const children = new WeakMap<Element, Element[]>();

function translate(texts: Sentences): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-text]")) {
    const text = textOf(texts, element.dataset.text!);
    if (text) write(element, text);
  }
  for (const element of document.querySelectorAll<HTMLElement>("[data-attributes]")) {
    for (const pair of element.dataset.attributes!.split(" ")) {
      const [name, key] = pair.split("=");
      element.setAttribute(name, textOf(texts, key)!);
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
