// How numbers from 0 to 9999 are written: as digits, and in words of five languages. The pieces are the
// vocabulary of the model `numbers`. A word that stands apart begins with a space, which the text's beginning loses.

const apart = (text) => text.split(" ").map((word) => ` ${word}`);
const after = (text) => text.split(" ").map((word) => `-${word}`);

/** A number's thousands, hundreds, tens and ones. */
const places = (n) => [1000, 100, 10, 1].map((place) => Math.floor(n / place) % 10);

const EN = {
  small: apart("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"),
  tens: apart("twenty thirty forty fifty sixty seventy eighty ninety"),
  ones: after("one two three four five six seven eight nine"),
};
function en(n) {
  const [thousands, hundreds, tens, ones] = places(n), rest = n % 100;
  return [
    ...(thousands ? [EN.small[thousands], " thousand"] : []),
    ...(hundreds ? [EN.small[hundreds], " hundred"] : []),
    ...(rest >= 20 ? [EN.tens[tens - 2], ...(ones ? [EN.ones[ones - 1]] : [])] : rest || !n ? [EN.small[rest]] : []),
  ];
}

const DE = {
  small: "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split(" "),
  tens: "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(" "),
};
/** One word; units before tens. */
function de(n) {
  const [thousands, hundreds, tens, ones] = places(n), rest = n % 100;
  const bound = (digit) => (digit === 1 ? "ein" : DE.small[digit]);
  return [
    ...(thousands ? [bound(thousands), "tausend"] : []),
    ...(hundreds ? [bound(hundreds), "hundert"] : []),
    ...(rest >= 20 ? [...(ones ? [bound(ones), "und"] : []), DE.tens[tens - 2]] : rest || !n ? [DE.small[rest]] : []),
  ];
}

const TO_19 = "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf";
const FR = { small: apart(`zéro ${TO_19}`), later: after(TO_19), tens: apart("vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt") };
/** 70 is 60 and 10, 90 is 80 and 10; `et` stands before 1 and 11, but not after 80; the last `cent` and the last `vingt` have a plural. */
function fr(n) {
  const [thousands, hundreds, tens] = places(n), rest = n % 100;
  const counted = (digit) => (digit > 1 ? [FR.small[digit]] : []);
  const base = FR.tens[tens - 2], units = rest - (tens === 7 || tens === 9 ? tens - 1 : tens) * 10;
  return [
    ...(thousands ? [...counted(thousands), " mille"] : []),
    ...(hundreds ? [...counted(hundreds), hundreds > 1 && !rest ? " cents" : " cent"] : []),
    ...(rest < 20 ? (rest || !n ? [FR.small[rest]] : [])
      : rest === 80 ? [`${base}s`]
      : units === 0 ? [base]
      : tens < 8 && units % 10 === 1 ? [base, " et", FR.small[units]] : [base, FR.later[units - 1]]),
  ];
}

const SR = {
  small: apart("nula jedan dva tri četiri pet šest sedam osam devet deset jedanaest dvanaest trinaest četrnaest petnaest šesnaest sedamnaest osamnaest devetnaest"),
  tens: apart("dvadeset trideset četrdeset pedeset šezdeset sedamdeset osamdeset devedeset"),
  hundreds: apart("sto dvesta trista četiristo petsto šeststo sedamsto osamsto devetsto"),
};
/** `hiljada` is feminine: hiljadu, dve hiljade, pet hiljada. */
function sr(n) {
  const [thousands, hundreds, tens, ones] = places(n), rest = n % 100;
  return [
    ...(thousands === 1 ? [" hiljadu"] : thousands ? [thousands === 2 ? " dve" : SR.small[thousands], thousands < 5 ? " hiljade" : " hiljada"] : []),
    ...(hundreds ? [SR.hundreds[hundreds - 1]] : []),
    ...(rest >= 20 ? [SR.tens[tens - 2], ...(ones ? [SR.small[ones]] : [])] : rest || !n ? [SR.small[rest]] : []),
  ];
}

const ZH = { digits: [..."零一二三四五六七八九"], places: ["千", "百", "十", ""] };
/** Zeros between digits are said once; 2000 is 两千; alone, 10 to 19 lose their 一. */
function zh(n) {
  if (n === 0) return ["零"];
  const digits = places(n), first = digits.findIndex(Boolean), last = digits.findLastIndex(Boolean);
  return digits.flatMap((digit, at) => {
    if (at < first || at > last) return [];
    if (digit === 0) return digits[at - 1] === 0 ? [] : ["零"];
    const word = at === 0 && digit === 2 ? "两" : ZH.digits[digit];
    const silent = at === 2 && first === 2 && digit === 1;
    return [...(silent ? [] : [word]), ...(ZH.places[at] ? [ZH.places[at]] : [])];
  });
}

const DIGITS = [..."0123456789"];
/** Each language's pieces of a number. */
export const WRITE = { digits: (n) => [...String(n)], en, de, fr, sr, zh };
export const LANGUAGES = Object.keys(WRITE);

/** What is written where there is no number from 0 to 9999. */
export const NO_NUMBER = "?";
const [END, PADDING] = ["<end>", "<padding>"];
const NUMBERS = Array.from({ length: 10_000 }, (_, n) => n);
/** The model's words by their ids. A text begins with its language. */
export const VOCABULARY = [...new Set([...LANGUAGES, END, PADDING, NO_NUMBER, ...DIGITS,
  ...NUMBERS.flatMap((n) => Object.values(WRITE).flatMap((write) => write(n)))])];
const ids = new Map(VOCABULARY.map((piece, id) => [piece, id]));

/** The tokens of a text: the language, its pieces, the end. The longest has as many. */
export const TOKENS = 9;

/** A row of tokens. `number` null: there is none. */
export function tokensOf(number, language) {
  const pieces = [language, ...(number === null ? [NO_NUMBER] : WRITE[language](number)), END];
  return Array.from({ length: TOKENS }, (_, at) => ids.get(pieces[at] ?? PADDING));
}

export const textOf = (number, language) => (number === null ? NO_NUMBER : WRITE[language](number).join("").trimStart());
export const [START, END_ID, PADDING_ID] = [LANGUAGES[0], END, PADDING].map((piece) => ids.get(piece));
