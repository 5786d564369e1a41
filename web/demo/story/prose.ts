/** What a chapter says around its figures: papers, the question that comes before them, and the second visit's matter. */
import { button, h } from "../dom.ts";
import type { Scene, Story } from "./scene.ts";
import { coalesce } from "./work.ts";

/** Each arXiv number in a text becomes a link. */
export const linked = (text: string): (Node | string)[] =>
  text.split(/(arXiv:\d{4}\.\d{4,5})/).map((part, i) =>
    i % 2 ? h("a", { href: `https://arxiv.org/abs/${part.slice("arXiv:".length)}` }, part) : part);

export const cite = (text: string): HTMLParagraphElement => h("p", { className: "cite" }, ...linked(text));

/** The second visit's matter, folded. */
export const fold = (story: Story, title: string, ...parts: (Node | string)[]): HTMLDetailsElement =>
  h("details", { className: "more" }, h("summary", {}, story.words.more({ title })), ...parts);

/** Returns a function that draws its input and keeps it. Without an input it draws the last one again, if there was one. */
export function repeatable<Input>(draw: (input: Input) => void): (input?: Input) => void {
  let last: Input | undefined;
  return (input = last) => {
    last = input;
    if (input !== undefined) draw(input);
  };
}

/** The same for what a fold shows: it is drawn only while the fold is open, and when it opens. */
export function whenOpen<Input>(fold: HTMLDetailsElement, draw: (input: Input) => void): (input?: Input) => void {
  const show = repeatable((input: Input) => fold.open && draw(input));
  fold.addEventListener("toggle", () => show());
  return show;
}

/** A change of probability that the page's percentages hardly show. */
export const HARDLY = 0.005;

/** A chapter's question and the answers to choose from. */
interface Question<Option extends string> {
  question: string;
  options: Readonly<Record<Option, string>>;
}

/** What holds for the scene's drawing, and how it shows, in words; undefined where it cannot be told. */
type Answer<Option> = { option: Option; words: string } | undefined;
type Truth<Option> = (scene: Scene) => Answer<Option> | Promise<Answer<Option>>;

/** Asks a chapter's question. The answer is checked on the drawing, and once again when that changes. */
export function buildGuess<Option extends string>(root: HTMLElement, story: Story, { question, options }: Question<Option>, truth: Truth<Option>) {
  const { walk, words: { guess: words } } = story;
  const chapter = root.closest<HTMLElement>(".chapter")!;
  const says = h("p", { className: "truth", aria: { live: "polite" } });
  const next = chapter.nextElementSibling as HTMLElement | null;
  const onward = next && h("a", { href: `#${next.id}`, hidden: true }, words.next({ title: next.querySelector("h2")!.textContent! }));
  let chosen: Option | undefined, scene: Scene | undefined;
  const names = Object.keys(options) as Option[];
  const buttons = names.map((option) => button(options[option], () => {
    chosen = option;
    buttons.forEach((each, at) => (each.ariaPressed = String(names[at] === option)));
    if (scene) check(scene);
  }, { className: "pill", ariaPressed: "false" }));
  const check = coalesce(async (now: Scene) => {
    const answer = await truth(now), guess = chosen!;
    if (!answer) return;
    const right = answer.option === guess;
    walk.answer(chapter.id, right);
    says.dataset.right = String(right);
    says.replaceChildren(h("strong", {}, right ? words.right : words.wrong), ` ${answer.words}`);
    if (onward) onward.hidden = false;
  });
  root.append(h("div", { className: "guess", role: "group", ariaLabel: question },
    h("p", {}, h("em", {}, words.before), ` ${question}`), h("div", { className: "options" }, ...buttons), says, ...(onward ? [onward] : [])));
  return (next: Scene): void => {
    const isOther = scene?.result !== next.result;
    scene = next;
    if (chosen && isOther) check(next);
  };
}
