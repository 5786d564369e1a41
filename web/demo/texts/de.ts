/** The page's words in German. */
import { decimal, type Translation } from "./words.ts";

export const de = {
  language: {
    failed: (wanted, stays) =>
      `${wanted} wurde nicht geladen, ${stays} bleibt; Verbindung prüfen, dann noch einmal wählen`,
  },
  theme: {
    useLight: "Helle Farben verwenden",
    useDark: "Dunkle Farben verwenden",
  },
  answer: {
    certain: "sicher",
    sure: "ziemlich sicher",
    unsure: "unsicher",
    unknown: "keine bekannte Ziffer",
    unknownSign: "nichts Bekanntes",
    next: (p, label, other) => `${p}; dann ${label}, ${other}`,
    nearest: (label, p) => `am nächsten: ${label}, ${p}`,
    yours: (count) => (count === 1 ? "dein Zeichen, aus einer Zeichnung" : `dein Zeichen, aus ${count} Zeichnungen`),
    teach: "Zeichen beibringen",
    not: (label) => `keine ${label}?`,
    onlyThese: "Es kennt nur die Zeichen unten. Drei Zeichnungen genügen für ein eigenes.",
    readsAs: (label, p) => `Gelesen als ${label}, ${p}`,
    unsureOf: (label, p) => `Nicht sicher, vielleicht ${label}, ${p}`,
    seesNone: "Sieht keine Ziffer",
  },
  looks: {
    kinds: {
      crossing: "die Kreuzung",
      end: "das Strichende",
      turn: "den Knick",
      bend: "den Bogen",
      line: "die Linie",
      ink: "die Tinte",
      gap: "die leere Stelle",
    },
    positions: {
      topLeft: "oben links",
      top: "oben",
      topRight: "oben rechts",
      left: "links",
      middle: "in der Mitte",
      right: "rechts",
      bottomLeft: "unten links",
      bottom: "unten",
      bottomRight: "unten rechts",
    },
    at: (kind, position) => `${kind} ${position}`,
    both: (a, b) => `${a} und ${b}`,
    it: "Es schaut vor allem auf {1}: ",
    patch: "Der gewählte Patch schaut vor allem auf {1}: ",
    hold: (patches, all, share) =>
      patches === 1
        ? `Ein Patch von ${all} hat ${share} seiner Aufmerksamkeit.`
        : `${patches} von ${all} Patches haben ${share} seiner Aufmerksamkeit.`,
    spread: (p) => `Es schaut überall ein wenig hin: Kein Patch hat mehr als ${p} seiner Aufmerksamkeit.`,
    onePatch: (p) => `${p} auf einem Patch`,
  },
  waiting: {
    ink: "Braucht Tinte",
    loading: "Lädt",
    noModel: "Kein Modell",
    more: "Mehr Tinte",
    noInk: "Keine Tinte gefunden",
    reading: "Liest",
  },
  pad: {
    hint: "Zeichne hier eine Ziffer",
    yourTurn: "Du bist dran: zeichne darüber",
    blank: "Das Blatt ist leer",
    cleared: "Gelöscht",
    example: (label) => `Ein Beispiel: ${label}`,
  },
  maps: {
    mean: "Mittel",
    button: (layer, head) => `Schicht ${layer}, Kopf ${head}`,
    tick: (p) => `Strich: alle gleich, ${p}`,
    most: (row, column, p) => `Am meisten auf Zeile ${row}, Spalte ${column}: ${p}.`,
    chosen: (row, column) => `Patch in Zeile ${row}, Spalte ${column}.`,
    none: "Zeichne, und jeder Patch nimmt die Farbe der Aufmerksamkeit an, die er bekommt.",
    allHeads: "Mittel aller Köpfe",
    head: (head) => `Kopf ${head}`,
    ofClass: (layer, heads) =>
      `Aufmerksamkeit des Klassentokens auf jeden Patch in Schicht ${layer}, ${heads}.`,
    ofMean: (layer, heads) =>
      `Aufmerksamkeit des Mittels aller Patches auf jeden Patch in Schicht ${layer}, ${heads}.`,
    ofPatch: (row, column, layer, heads) =>
      `Aufmerksamkeit des Patches in Zeile ${row}, Spalte ${column} auf jeden Patch in Schicht ${layer}, ${heads}.`,
    toClass: "Wie viel von jedem Patch durch alle Schichten zum Klassentoken gelangt (Abnar & Zuidema, 2020).",
    toMean: "Wie viel von jedem Patch durch alle Schichten zum Mittel aller Patches gelangt (Abnar & Zuidema, 2020).",
    similarity: (row, column) =>
      `Ähnlichkeit jedes Patches mit dem Patch in Zeile ${row}, Spalte ${column} nach der letzten Schicht: der Kosinus ihrer Vektoren.`,
    common: (p) => `${p}, eine Skala für alle`,
  },
  models: {
    digits: "digits",
    "digits-plain": "digits-plain: ohne Faltungen davor",
    "digits-large": "digits-large: 2,4-mal so groß",
    myvit: "myvit: der winzige ViT des Tutorials",
    signs: "meine Zeichen",
  },
  calibration: {
    never: "Sie wurden nie kalibriert: Das Modell kann öfter oder seltener recht haben, als sie sagen.",
    scaled: (temperature) =>
      `Die Werte werden zuerst durch ${temperature} geteilt. Bei 90\u00a0% sind etwa neun von zehn Antworten richtig, bei Ziffern wie denen, aus denen es gelernt hat.`,
    limit: (p) => `Eine Antwort unter ${p} gilt als nicht sicher.`,
  },
  status: {
    kilobytes: (count) => `${count} kB`,
    megabytes: (count) => `${count} MB`,
    fetching: (loaded) => `Das Modell wird geladen: ${loaded}`,
    fetchingOf: (loaded, total) => `Das Modell wird geladen: ${loaded} von ${total}`,
    opening: (size) => `Die Dateien werden geöffnet: ${size}`,
    ready: "Bereit",
    time: (milliseconds) => `${milliseconds} ms je Zeichnung`,
    running: (build, size) => `${size} gelernte Zahlen, gerechnet von ${build}.`,
    builds: {
      relaxed: "dem schnellsten Programm für diesen Browser (WebAssembly, relaxed SIMD)",
      simd128: "dem schnellen Programm (WebAssembly mit SIMD)",
      scalar: "dem einfachen Programm (WebAssembly ohne SIMD)",
    },
    retry: "Noch einmal",
  },
  trouble: {
    because: (what, why) => `${what}: ${why}`,
    remedied: (what, remedy) => `${what}; ${remedy}`,
    remedy: "Verbindung prüfen, dann „Noch einmal“",
    answered: (status) => `der Server antwortete mit ${status}`,
    broken: "die Verbindung schlug fehl oder brach ab",
    server: "der Server",
    stopped: "Das Modell ist stehen geblieben",
    notLoaded: "Das Modell wurde nicht geladen",
    stays: (wanted, old) => `${wanted} wurde nicht geladen, ${old} bleibt`,
    light: "seine leichte Form",
    story: "Dieser Teil wurde nicht geladen",
    tab: "Der Code dieses Reiters wurde nicht geladen",
    action: (why) => `Das hat nicht geklappt: ${why}`,
  },
  share: {
    share: "Teilen",
    damaged:
      "Die Zeichnung in diesem Link ist beschädigt oder abgeschnitten und wurde weggelassen. Bitte noch einmal um den Link.",
    large: "Diese Zeichnung ist zu groß für einen Link: Sichere stattdessen ihr Bild.",
    photo: "Ein Link enthält Striche und kein Foto: Sichere stattdessen das Bild.",
    shared: "Geteilt: Der Link enthält die Zeichnung.",
    copied: "Link kopiert: Er enthält die Zeichnung.",
    refused:
      "Der Browser lässt die Seite nicht kopieren. Die Adresse oben enthält nun die Zeichnung: Kopiere sie.",
    saved: "Das Bild liegt bei deinen Downloads.",
    codeCopied: "Kopiert",
    codeRefused:
      "Der Browser lässt die Seite nicht kopieren. Der Code ist ausgewählt: Kopiere ihn mit der Tastatur.",
    noPng: "der Browser konnte kein PNG erzeugen",
  },
  own: {
    noPhoto: "Noch kein Foto",
    seen: (name) => `Was das Modell sieht: ${name}`,
    theCamera: "die Kamera",
    ourExample: "unser Beispiel",
    ourDigit: "unser Foto einer Ziffer",
    invitePhoto: "Lege hier ein Foto ab, füge es ein oder wähle eines",
    inviteAll: "Lege hier den Ordner eines Checkpoints und ein Foto ab oder wähle Dateien",
    noModel: "Lade einen Checkpoint, und jeder Patch nimmt die Farbe der Aufmerksamkeit an, die er bekommt.",
    givePhoto: "Gib dem Modell ein Foto.",
    looking: "Schaut …",
    noCheckpoint: "Noch kein Checkpoint",
    headless: "Das Modell hat keinen Klassifikationskopf und benennt nichts. Ähnlichkeit mit dem gewählten Patch:",
    untrained: "Das Modell ist untrainiert: Es rät nur",
    sees: "Das Modell sieht",
    waiting: "Wartet auf ein Foto",
    cosines: (least) => `Kosinus-Ähnlichkeiten von ${least} bis 1`,
    shown: "Die Aufmerksamkeit wird gezeigt",
    photo: "Dieses Foto kann nicht gelesen werden",
    checkpoint: "Dieser Checkpoint kann nicht gelesen werden",
    answer: "Die Antwort kann nicht verwendet werden",
    camera: "Die Kamera kann nicht geöffnet werden",
    nothing: "Nichts zu zeigen",
    asks: (key) => `Die Dateien sagen „${key}“ dieses Modells nicht: Antworte unten.`,
    guessed:
      "Die Dateien sagen nicht, wie aus Pixeln Zahlen werden. Es gilt die Art von ImageNet; oben lässt sich eine andere wählen.",
    orPixels: "oder wähle oben die Pixel",
    misfit: (got) =>
      `Erwartet wurde die Datei eines Checkpoints (.safetensors, .bin, .pt oder .pth) oder ein Bild, bekommen: ${got}`,
    otherFiles: (count) => `${count} andere Dateien`,
    noFiles: "nichts",
    unreadable: (name, got) => `${name}: Erwartet wurde ein Bild, das dieser Browser lesen kann, bekommen: ${got}`,
    unknownType: "eine Datei unbekannter Art",
    heic: "ein HEIC-Foto: wandle es in JPEG um",
    noCamera: "erwartet wurde eine Seite über https oder von localhost, sie ist keines von beiden",
    choose: "wähle …",
    noJson: (got) => `config: Erwartet wurde ein JSON-Objekt wie {"heads": 3}, bekommen: ${got}`,
    pixels: {
      own: "die der Dateien oder von ImageNet",
      imagenet: "Mittel und Abweichung von ImageNet",
      half: "von −1 bis 1",
      clip: "Mittel und Abweichung von CLIP",
      unit: "von 0 bis 1",
    },
    facts: {
      model: "Modell",
      names: "Namen",
      family: "Familie",
      assumed: "Angenommen",
      skipped: "Ausgelassen",
      load: "Laden",
      memory: "Speicher",
      speed: "Tempo",
      shape: (depth, width, heads, patch, image) =>
        `Schichten: ${depth}, Breite: ${width}, Köpfe: ${heads}, Patches von ${patch} in ${image}`,
      classes: (count) => (count ? `, Klassen: ${count}` : ", keine Klassen"),
      untrained: ", untrainiert",
      imagenet: "die von ImageNet, weil seine 1000 Klassen keine eigenen haben",
      tensors: (count) => `${count} Tensoren, die nicht zum Bildmodell gehören`,
      loaded: (size, seconds) => `${size} in ${seconds} s`,
      used: (size) => `${size} WebAssembly-Speicher`,
      time: (milliseconds, how) => `${milliseconds} ms je Foto (${how})`,
      threads: (count) => `, ${count} Threads`,
    },
  },
  page: {
    title: "Vitrine: ein Vision Transformer hinter Glas",
    description:
      "Zeichne eine Ziffer und sieh zu, wie ein Vision Transformer sie in deinem Browser liest, samt Aufmerksamkeit.",
    language: "Sprache",
    tabs: "Was zu sehen ist",
    tabDraw: "Zeichnen",
    tabOwn: "Eigener ViT",
    heading: "Zeichne eine Ziffer.",
    lead: "Ein kleiner Vision Transformer liest sie, während dein Stift sich bewegt, und zeigt, wohin er schaut. Nichts verlässt diesen Tab.",
    drawing: "Zeichnung",
    padRole: "Zeichenblatt",
    padLabel: "Zeichne hier eine Ziffer",
    padKeys:
      "Die Pfeiltasten bewegen den Stift, mit der Umschalttaste in größeren Schritten. Leertaste oder Eingabetaste setzt den Stift auf oder hebt ihn ab. Steuerung Z nimmt einen Strich zurück, Steuerung Y stellt ihn wieder her. Escape oder Entfernen leert das Blatt.",
    undo: "Zurück",
    undoTitle: "Zurück (Strg+Z)",
    redo: "Vor",
    redoTitle: "Vor (Strg+Umschalt+Z)",
    clear: "Löschen",
    clearTitle: "Löschen (Esc)",
    examples: "Beispielzeichnungen",
    photo: "Foto einer Ziffer lesen",
    photoTitle: "Foto einer Ziffer lesen: wähle eines, lege es ab oder füge es ein",
    takeaway: "Die Zeichnung oder ihren Code sichern",
    shareTitle: "Ein Link, der die Zeichnung enthält",
    save: "Bild",
    saveTitle: "Zeichnung und Karte als PNG sichern",
    code: "Code",
    codeTitle: "Der Code, der diese Zeichnung liest",
    model: "Modell",
    keys: "Die Pfeiltasten bewegen den Stift, {1} setzt ihn auf. {2} {3} nimmt zurück, {4} {5} stellt wieder her, {6} löscht.",
    space: "Leertaste",
    ctrl: "Strg",
    esc: "Esc",
    reading: "Was das Modell liest",
    bars: "Wahrscheinlichkeit jeder Klasse",
    where: "Wohin es schaut",
    map: "Karte",
    mapClass: "Klassentoken",
    mapPatch: "Patch am Zeiger",
    mapRollout: "Rollout",
    mapSimilarity: "Ähnlichkeit mit Patch",
    layer: "Schicht",
    head: "Kopf",
    strength: "Stärke",
    axes: "Schichten von links nach rechts, Köpfe von oben nach unten. Wähle einen.",
    maps: "Alle Schichten und Köpfe; wähle einen",
    journey: "Von der Tinte zur Antwort",
    patchRole: "Patch-Auswahl",
    pixelsLabel: "Was das Modell sieht",
    pixelsKeys: "Die Pfeiltasten wählen den Patch, dessen Aufmerksamkeit gezeigt wird.",
    pixels: "Pixel",
    pixelsText: "Deine Tinte, zentriert in {1}. Das Modell sieht nur dies.",
    convolutions: "Faltungen",
    convolutionsText: "{1} nacheinander, je 3\u00a0×\u00a03. So sieht ein Quadrat bis zu {2} Pixel.",
    patches: "Patches",
    patchesText: "Zerschnitten in {1} Quadrate von {2} Pixeln, Zeile für Zeile gelesen.",
    tokens: "Tokens",
    tokensText: "Jedes Quadrat wird eine Zeile von {1} Zahlen. Ein Klassentoken kommt zuerst.",
    blocks: "Blöcke",
    blocksText: "{1}-mal nimmt jedes Token (Zeile) von allen Tokens (Spalten), was es braucht.",
    logits: "Logits",
    logitsText: "Aus dem Klassentoken werden {1} Werte; Softmax macht daraus Wahrscheinlichkeiten.",
    overlay: "Überlagerung",
    overlayText: "Die Aufmerksamkeit des Klassentokens über deiner Tinte: Hierhin hat es geschaut.",
    reliable: "Wie verlässlich sind die Wahrscheinlichkeiten?",
    paper: "Der Vision Transformer stammt von Dosovitskiy et al., {1}.",
    source: "Quelltext",
    documents: "Dokumente",
    licence: "MIT-Lizenz",
    codeHeading: "Der Code, der diese Zeichnung liest",
    codePage: "Webseite",
    copy: "Kopieren",
    close: "Schließen",
    orTry: "oder probiere",
    closer: "Genauer hinsehen",
    mySigns: "Meine Zeichen",
    machine: "Das Modell und was du mitnehmen kannst",
    down: "Wie es liest: {1} Schritte, an deiner eigenen Zeichnung",
    local: "nichts verlässt diesen Tab",
  },
  chapters: {
    patches: "Vom Patch zum Token",
    positions: "Wo bin ich?",
    score: "Ein Score von Hand",
    layers: "Schicht für Schicht",
    strokes: "Während du gezeichnet hast",
    doubt: "Softmax und Zweifel",
    learning: "Wie es gelernt hat",
    cnn: "Neben einem faltenden Netz",
    masks: "Encoder, Decoder",
    why: "Welche Patches für diese Klasse sprachen",
  },
  ownPage: {
    heading: "Dein eigener ViT.",
    lead: "Lege ein Foto und einen Checkpoint ab (safetensors oder PyTorch, aus timm, transformers, torchvision oder vit-pytorch). Sieh, wohin jeder Kopf schaut. Nichts verlässt diesen Tab.",
    photo: "Foto",
    photoKeys: "Die Pfeiltasten wählen den Patch, dessen Aufmerksamkeit oder Ähnlichkeit gezeigt wird.",
    choosePhoto: "Foto …",
    camera: "Kamera",
    example: "Beispiel",
    checkpoint: "Checkpoint",
    files: "Dateien eines Checkpoints oder ein Foto",
    drop: "Lege Gewichte oder ein Foto ab oder wähle Dateien",
    chooseFolder: "Ordner …",
    random: "Ein kleines Zufallsmodell",
    digits: "Unsere Ziffern, auf einem Foto",
    known: "Dateien, die so laden, wie sie sind",
    knownHow: "Lege eine davon ab, zusammen mit config.json und preprocessor_config.json, die daneben liegen.",
    pixels: "Pixel",
    config: "Config",
    configHint: 'fehlende Schlüssel, etwa {"heads": 3}',
    reading: "Was das Modell im Foto sieht",
    classes: "Die wahrscheinlichsten Klassen",
  },
  grid: {
    kind: "Zahlengitter",
    keys: "Die Pfeiltasten gehen von Zelle zu Zelle. Die Eingabetaste wählt eine Zelle.",
    signed: (top) => `Blau: bis −${top}. Rot: bis ${top}.`,
    hidden: "maskiert",
    tick: (uniform) => `Strich: alle gleich, ${uniform}`,
    cell: ({ row, column, value }) => `${row}, ${column}: ${value}`,
    largest: ({ row, column, value }) => `Am größten: ${row}, ${column}, ${value}`,
  },
  story: {
    title: "Innen: deine Zeichnung, Schritt für Schritt",
    rail: "Deine Zeichnung und die Antwort",
    railPad: "Zeichne auch hier",
    layer: "Schicht",
    head: "Kopf",
    blank: "leeres Blatt",
    clear: "Löschen",
    chosen: (row, col) => `Patch: Zeile ${row}, Spalte ${col}`,
    patch: (row, col) => `Zeile ${row}, Spalte ${col}`,
    row: (n) => `Zeile ${n}`,
    column: (n) => `Spalte ${n}`,
    classToken: "Klassentoken",
    prefixToken: (n) => `Präfix-Token ${n}`,
    loading: "Lädt …",
  },
  patches: {
    lead: (patches, pixels) =>
      `Das Bild wird in ${patches} Quadrate zerschnitten, die Patches. Für das Modell ist ein Patch kein Bild, sondern eine Liste: seine ${pixels} Pixel, Zeile für Zeile gelesen, 0 für Papier und 1 für volle Tinte.`,
    plain: (pixels, width) =>
      `Ein Filter ist eine Liste von ${pixels} Gewichten, die das Training gefunden hat. Multipliziere jedes Pixel mit seinem Gewicht, addiere die Produkte und noch eine gelernte Zahl, den Bias: Diese Summe ist eine Zahl im Token des Patches. ${width} Filter ergeben ${width} Zahlen, und diese stehen von hier an für den Patch.`,
    stem: (convolutions, side, width) =>
      `Dieses Modell schickt zuerst das ganze Bild durch ${convolutions} Faltungen: Jede macht neue Karten, in denen jeder Wert aus 3\u00a0×\u00a03 Plätzen der vorigen Karten berechnet ist. Darum wissen die ${width} Zahlen des Patches, sein Token, von bis zu ${side} Pixeln, nicht nur von seinem eigenen Quadrat.`,
    taskPlain:
      "Wähle einen Patch im Bild, dann einen Filter. Addiere die Produkte eines nach dem anderen und sieh auf den Balken des Filters.",
    taskStem: "Wähle einen Patch im Bild und gehe durch die Faltungen, eine nach der anderen.",
    noticePlain:
      "Ein Patch aus leerem Papier hat nur Produkte, die 0 sind, also ist jeder seiner Balken der Bias des Filters. Alle leeren Patches beginnen als dasselbe Token: Ihre Positionen kommen als Nächstes.",
    noticeStem:
      "Jede Faltung weitet den Blick, und eine mit Schrittweite 2 verdoppelt, was alle folgenden hinzufügen. Außerhalb des Bildes ist nur aufgefüllt: mit Nullen.",
    citePlain: "Im Paper heißt das die lineare Projektion der abgerollten Patches: Dosovitskiy et al., Abschnitt 3.1, arXiv:2010.11929.",
    citeStem: "Faltungen vor den Patches: Xiao et al., arXiv:2106.14881.",
    chooser: "Patch-Auswahl",
    grid: "Das Bild in Patches",
    gridKeys: "Die Pfeiltasten wählen den Patch für die ganze Seite.",
    lift: "Das Gitter vom Bild abheben",
    liftAgain: "Noch einmal abheben",
    patch: (row, column, ink) => `Patch in Zeile ${row}, Spalte ${column}: ${ink} davon ist Tinte.`,
    numbers: "Die Zahlen des gewählten Patches",
    unrolled: (row, column, pixels) =>
      `Der Patch in Zeile ${row}, Spalte ${column}, abgerollt zu ${pixels} Zahlen`,
    place: (row, column) => `${row}|${column}`,
    rows: { pixel: "Pixel", weight: "× Gewicht", product: "= Produkt" },
    filters: "Filter und Token",
    filterLegend: (count) =>
      `Die ${count} Filter, und über jedem die Zahl, die er aus diesem Patch macht. Zusammen sind die ${count} Zahlen das Token.`,
    filterBar: (filter, value) => `Filter ${filter}: ${value}`,
    filtersKey: (top) => `Die Balken enden bei ±${top}. Rot: über 0. Blau: unter 0. Ebenso die Gewichte.`,
    filtersMissing: (why) =>
      `Die Filter wurden nicht geladen: ${why}. Wähle einen Patch, um es noch einmal zu versuchen.`,
    filtersLoading: "Die Filter werden geladen …",
    added: (filter) => `Filter ${filter}: die Produkte eines nach dem anderen addieren`,
    addAll: "Alle addieren",
    addedOf: (added, all) => `${added} von ${all} Produkten`,
    sum: ({ added, all, sum, bias, value }) =>
      `${added === all ? `Alle ${all} Produkte: ${sum}.` : `${added} von ${all} Produkten: ${sum}.`} Plus der Bias, ${bias}: ${value}.`,
    model: (value) => `Die Zahl des Modells selbst: ${value}.`,
    passed: "Faltungen durchlaufen",
    grow: "Den Blick wachsen lassen",
    fieldFigure: "Was der Patch sieht",
    field: ({ passed, rows, columns, inside, all }) =>
      `${passed === 0 ? "Das Quadrat allein" : passed === 1 ? "Nach 1 Faltung" : `Nach ${passed} Faltungen`}: ${rows} × ${columns} Pixel. Davon liegen ${inside} im Bild; es hat insgesamt ${all}.`,
    token: (width) => `Das Token des Patches: ${width} Zahlen`,
    classTitle: "Und ein Token ohne Pixel",
    classToken: (width) =>
      `Das Klassentoken kommt leer hinein: Kein Quadrat gehört zu ihm, also macht es auch kein Filter. Seine ${width} Zahlen sind gelernt und für jede Zeichnung dieselben. In den Blöcken sammelt es, was die Patches zu sagen haben, und am Ende wird an ihm die Antwort abgelesen.`,
    classBars: (width, top) => `Die ${width} Zahlen des Klassentokens; die Balken enden bei ±${top}`,
  },
  positions: {
    lead:
      "Die Aufmerksamkeit vergleicht jedes Token mit jedem anderen und mischt sie nach dem, was sie enthalten. Wo ein " +
      "Patch lag, kommt in dieser Rechnung nicht vor: Für die Aufmerksamkeit ist ein Bild ein Sack voller Patches. " +
      "Einem Vision Transformer muss also gesagt werden, wohin jeder Patch gehört: durch seine Position.",
    models:
      "Hier sind fünf kleine Modelle. Sie haben dieselbe Form (32 Zahlen je Token, 3 Blöcke, 4 Köpfe) und haben " +
      "dieselben Ziffern auf dieselbe Weise gelernt. Nur ihre Positionen sind verschieden. Das gewählte liest deine Zeichnung, jetzt.",
    kind: "Positionen",
    kinds: { none: "keine", sincos1d: "1-D sin-cos", sincos2d: "2-D sin-cos", learned: "gelernt", relative: "relativ" },
    notes: {
      none: "Keine: Dieses Modell erfährt nie, wo ein Patch war. Es weiß nur, welche Patches es gibt.",
      sincos1d:
        "1-D sin-cos: Die Tokens sind in Leserichtung nummeriert, von 0 für das Klassentoken bis 49. Aus der Nummer " +
        "werden 32 andere Zahlen, abwechselnd von Sinus- und Kosinuswellen abgelesen, von einer schnellen Welle bis zu " +
        "einer sehr langsamen. Nichts davon ist gelernt.",
      sincos2d:
        "2-D sin-cos: Die eine Hälfte der 32 Zahlen sind Wellen der Spalte des Patches, die andere Hälfte sind Wellen " +
        "seiner Zeile. Das Klassentoken, das nirgends liegt, bekommt Nullen. Nichts davon ist gelernt.",
      learned:
        "Gelernt: eine Tabelle mit 50\u00a0×\u00a032 Zahlen, eine Zeile für jedes Token. Sie begann als kleine Zufallszahlen und " +
        "wurde trainiert wie jedes andere Gewicht. Niemand hat ihr gesagt, dass es Zeilen und Spalten gibt.",
      relative:
        "Relativ: Zu den Tokens wird nichts addiert. Jeder Kopf hat für jeden Versatz, etwa „zwei nach rechts, einen " +
        "nach oben“, eine Zahl gelernt und addiert sie zum Score zweier Patches, die so zueinander liegen.",
    },
    papers: {
      none: [["Ohne Positionen sind die Tokens eine Menge: Dosovitskiy et al. 2020, Anhang D.4", "2010.11929"]],
      sincos1d: [["Vaswani et al. 2017, Abschnitt 3.5", "1706.03762"]],
      sincos2d: [["In dieser Form: MoCo v3, Chen, Xie & He 2021", "2104.02057"], ["1-D und 2-D im Vergleich: Dosovitskiy et al. 2020, Anhang D.4", "2010.11929"]],
      learned: [["Dosovitskiy et al. 2020, Abschnitt 3.1 und Anhang D.4", "2010.11929"]],
      relative: [["Shaw et al. 2018, die für jeden Versatz einen Vektor lernen", "1803.02155"], ["eine Zahl je Kopf, wie hier: Liu et al. 2021 (Swin)", "2103.14030"]],
    },

    scrambleTitle: "Mischen",
    scrambleLead:
      "Zerschneide deine Zeichnung in ihre 49 Patches und lege sie in anderer Reihenfolge hin. Du kannst sie nicht mehr lesen. Kann es das Modell?",
    scrambleTask:
      "Drücke „Mischen“ oder ziehe einen Patch auf einen anderen, um beide zu tauschen. Schalte dann die Positionen ab. " +
      "Du kannst auch weiterzeichnen, während die Patches durcheinanderliegen.",
    scrambleNotice:
      "Ohne Positionen bleiben alle zehn Werte, wie sie waren: Dieselben Zahlen werden in anderer Reihenfolge addiert, " +
      "also ist nur ihre Rundung verschieden. Mit Positionen zerfällt die Antwort, weil jeder Patch nun behauptet, " +
      "woanders zu liegen.",
    scramble: "Mischen",
    back: "Zurücklegen",
    positions: "Positionen",
    before: "Vorher",
    after: "Nachher",
    beforeLabel: "Deine Zeichnung, in Patches zerschnitten",
    afterLabel: "Die Patches, wie das Modell sie bekommt",
    boardKeys:
      "Die Pfeiltasten gehen von Patch zu Patch. Die Eingabetaste nimmt einen Patch auf, auf einem anderen tauscht sie die beiden. Escape lässt los.",
    held: (place) => `Aufgenommen: ${place}. Wähle einen anderen Patch zum Tauschen.`,
    dropped: "Losgelassen",
    from: (place, patch) => `${place}: der Patch aus ${patch}`,
    swapped: (a, b) => `Getauscht: ${a} und ${b}.`,
    scrambled: "Alle Patches sind gemischt.",
    inPlace: "Alle Patches liegen wieder an ihrem Platz.",
    switchedOn: "Positionen an.",
    switchedOff: "Positionen aus.",
    reads: (label, share) => `Liest ${label}, ${share}`,
    largest: "Größte Änderung eines Werts",
    notYet: "Jeder Patch liegt dort, wo du ihn gezeichnet hast.",
    onlyRounding: "Das ist Rundung und sonst nichts: Für dieses Modell sind beide Bilder gleich.",
    changed: (before, after) =>
      before === after
        ? `Andere Werte, doch die Antwort ist weiter ${after}.`
        : `Vorher las es ${before}. Jetzt liest es ${after}.`,
    scores: "Die zehn Werte (Logits), vorher und nachher",
    digit: "Ziffer",
    accuracy: (digits) => `Richtige Antworten bei ${digits} Testziffern, wie sie sind und gemischt`,
    digitsOn: (digits, before, after) =>
      `Von ${digits} Testziffern, jede auf ihre eigene Weise gemischt, liest dieses Modell vorher ${before} richtig und nachher ${after}.`,
    digitsOff: (digits, before, off) =>
      `Von ${digits} Testziffern liest dieses Modell ${before} richtig. Ohne seine Positionen liest es ${off} richtig, ` +
      "geordnet oder gemischt: Es hat gelernt, sich auf sie zu verlassen.",
    digitsNone: (digits, before) =>
      `Von ${digits} Testziffern liest dieses Modell vorher ${before} richtig und nachher ${before}. So viel verraten ihm ` +
      "die Tinte, ihre Schrägen und ihre Bögen; was davon wo lag, würde ihm den Rest verraten.",

    addedTitle: "Zu jedem Token wird eine Position addiert",
    addedTitleNone: "Zu den Tokens wird nichts addiert",
    addedTitleRelative: "Zu jedem Score wird eine Zahl addiert",
    addedLead:
      "Ein Token besteht aus 32 Zahlen, die sagen, was in seinem Patch ist. Eine Position besteht auch aus 32 Zahlen. Das " +
      "Modell addiert beide, Zahl für Zahl, und von da an sagt jedes Token auch, wo es ist.",
    addedNone:
      "Dieses Modell addiert nichts: Jedes Token geht so in den ersten Block, wie es aus seinem Patch kam. Wähle oben eine andere Art von Positionen.",
    addedRelative:
      "Dieses Modell addiert nichts zu den Tokens. Seine Positionen stecken in den Scores: Vor der Softmax addiert jeder " +
      "Kopf zum Score zweier Patches eine Zahl, die nur davon abhängt, wie weit und in welcher Richtung sie auseinanderliegen.",
    addedTask:
      "Schiebe den Regler vom Token allein zu Token + Position. Klicke auf eine Zeile des Bildes, um ihren Patch zu wählen.",
    biasTask: "Klicke auf das Bild eines Kopfes, um genauer hinzusehen: Die Abbildungen darunter zeigen dann diesen Kopf.",
    addedNotice: {
      none: "",
      sincos1d: "Die Spalten links schwingen mit jedem Schritt. Die rechts bewegen sich vom ersten bis zum letzten Patch kaum.",
      sincos2d:
        "Links laufen die Wellen durch jede Zeile von sieben Patches; rechts ändern sie sich nur von Zeile zu Zeile, in Stufen.",
      learned:
        "Niemand hat eine Welle hineingelegt. Suche Bänder, die sieben Tokens hoch sind: Patches einer Zeile, die einander ähnlich geworden sind.",
      relative:
        "Vom Patch in der Mitte aus gesehen: Rot hebt den Score des Patches, der dort liegt, Blau senkt ihn. Viele Köpfe " +
        "haben ihre eigene Richtung, etwa einen nach oben oder zwei nach links. In der letzten Schicht ist alles blass: Von " +
        "dort wird nur das Klassentoken gelesen, also bleibt ohne Wirkung, was Patches einander sagen, und diesen Zahlen " +
        "wurde nie etwas beigebracht.",
    },
    matrix: "Alle Positionen, ein Token je Zeile",
    matrixCaption: "Alle Positionen: 50 Tokens nach unten, 32 Zahlen nach rechts",
    number: (n) => `Zahl ${n}`,
    fade: "Vom Token zu Token + Position",
    faded: (percent) => `${percent}\u00a0% der Position`,
    sumOf: (patch) => `Das Token des Patches in ${patch}`,
    numberHead: "Nr.",
    token: "Token",
    plusPosition: "+ Position",
    equals: "= Summe",
    biasLabel: (layer, head) => `Schicht ${layer}, Kopf ${head}: Bias für jeden Versatz`,
    biasCaption: (layer, head) => `Schicht ${layer}, Kopf ${head}`,
    down: (rows) => (rows === 0 ? "gleiche Zeile" : rows < 0 ? `${-rows} nach oben` : `${rows} nach unten`),
    right: (columns) =>
      columns === 0 ? "gleiche Spalte" : columns < 0 ? `${-columns} nach links` : `${columns} nach rechts`,

    alikeTitle: "Welche Plätze ähneln sich?",
    alikeLead:
      "Der Kosinus zweier Positionen sagt, wie ähnlich sie sind: 1, wenn sie in dieselbe Richtung zeigen, 0, wenn sie " +
      "nichts gemeinsam haben, −1, wenn sie entgegengesetzt sind. Die Aufmerksamkeit vergleicht Tokens durch solche " +
      "Produkte, also finden ähnliche Positionen leicht zueinander.",
    alikeNone: "Ohne Positionen gibt es nichts zu vergleichen: Alle Plätze sind derselbe Platz.",
    alikeTask: "Wähle einen Patch, hier oder im Bild darunter.",
    alikeNotice: {
      none: "",
      sincos1d:
        "Die Ähnlichkeit läuft die Leserichtung entlang. Der Patch genau darüber ist sieben Schritte entfernt und nicht näher " +
        "als jeder andere, der sieben Schritte entfernt ist, obwohl er den gewählten berührt.",
      sincos2d:
        "Die Ähnlichkeit nimmt nach allen vier Seiten gleich ab: Der Patch darüber ist genauso ähnlich wie der rechts daneben. " +
        "Im großen Bild werden daraus Streifen im Abstand von sieben Tokens.",
      learned: (right, down) =>
        `Niemand hat diesem Modell gesagt, dass es ein Gitter gibt. Doch zwei Patches nebeneinander haben im Mittel einen Kosinus von ${decimal(right, 2)} ` +
        `und zwei übereinander einen von ${decimal(down, 2)}; die meisten anderen Paare liegen nahe 0 oder darunter.`,
      relative: "Geh von Patch zu Patch: Das Muster wandert unverändert mit, weil nur der Versatz zählt.",
    },
    placeLabel: "Ähnlichkeit des gewählten Patches mit allen Patches",
    placeCaption: (patch) => `Vom Patch in ${patch} aus gesehen`,
    allLabel: "Ähnlichkeit jedes Tokens mit jedem Token",
    allCaption: "Jedes Token mit jedem Token: 50\u00a0×\u00a050",
    biasTitle: "Welche Plätze finden zueinander?",
    biasLead: (layer, head) =>
      `Hier gibt es keine Position zu vergleichen. Dies sind die Zahlen, die Kopf ${head} von Schicht ${layer} zu seinen ` +
      "Scores addiert: Zeile für Zeile das Token, das schaut, Spalte für Spalte das Token, auf das es schaut.",

    wideTitle: "Ein Bild, das nicht quadratisch ist",
    wideLead:
      "Das Gitter muss kein Quadrat sein. Hier ist deine Zeichnung auf 60\u00a0×\u00a0100 Pixel gestreckt, in Patches von 20: 3 Zeilen " +
      "zu je 5. Ein winziges untrainiertes Modell macht daraus 16 Tokens von je 16 Zahlen, das Klassentoken zuerst.",
    wideTask: "Wähle Patch 6, den ersten der zweiten Zeile. Welche Patches nennt jede Nummerierung seine Nachbarn?",
    wideNotice:
      "In einer einzigen Reihe nummeriert, liegt Patch 5 am Ende einer Zeile neben Patch 6 am Anfang der nächsten, und der " +
      "Patch darüber ist fünf Schritte entfernt. Zeile und Spalte wissen nichts von dieser Reihe: Rechts und unten zählen gleich.",
    wideImage: {
      sincos1d: "Die gestreckte Zeichnung, ihre Patches in Leserichtung von 1 bis 15 nummeriert",
      sincos2d: "Die gestreckte Zeichnung, ihre Patches nach Zeile und Spalte benannt",
    },
    wideLikeness: {
      sincos1d: "1-D: Ähnlichkeit mit dem gewählten Patch, 3\u00a0×\u00a05",
      sincos2d: "2-D: Ähnlichkeit mit dem gewählten Patch, 3\u00a0×\u00a05",
    },
    widePositions: { sincos1d: "1-D: 16 Positionen von je 16 Zahlen", sincos2d: "2-D: 16 Positionen von je 16 Zahlen" },
    wideLikenessCaption: "Ähnlichkeit mit dem gewählten Patch",
    widePositionsCaption: "Positionen: 16 Tokens nach unten, 16 Zahlen nach rechts",
    wideTokens: "16 Tokens von je 16 Zahlen, vor den Positionen",
    wideTokensCaption: "Tokens vor ihren Positionen",
    nth: (token) => (token === 0 ? "Klassentoken" : `Patch ${token}`),
  },
  score: {
    leads: [
      "In der Aufmerksamkeit bittet jedes Token die anderen um das, was es braucht. Dafür berechnet ein Kopf aus jedem Token drei kurze Listen von Zahlen: eine Query q (was es fragt), einen Key k (woran es zu finden ist) und einen Value v (was es gibt).",
      "Jede Zahl von q wird mit der Zahl an derselben Stelle eines Keys multipliziert. Die Summe, geteilt durch √d, ist der Score: hoch, wo beide in dieselbe Richtung zeigen. Softmax macht aus den Scores einer Query Anteile, die zusammen 1 ergeben, und die Ausgabe des Kopfes ist die Summe aller Values, jeder mal seinem Anteil.",
    ],
    task: "Klicke auf einen Patch im Gitter: Seine Query steht bereit. Zeige auf einen anderen (mit dem Finger: tippe auf eine Spalte unter dem Gitter), und sein Key schiebt sich darunter. Ziehe dann eine Zahl von q nach oben oder unten (mit dem Finger: seitwärts; Tasten: Pfeile).",
    notice: "Die Anteile sind ein Ganzes: Wächst einer, so schrumpfen alle anderen. Ein um 1 größerer Score hat den 2,7-fachen Anteil, wie auch immer die übrigen Scores sind.",
    cite: "Skaliertes Skalarprodukt (scaled dot-product attention): Vaswani et al., Abschnitt 3.2.1, arXiv:1706.03762.",
    whose: "Wessen Query?",
    patchQuery: "die des gewählten Patches",
    classQuery: "die des Klassentokens",
    map: "Anteile dieser Query, auf deiner Zeichnung",
    classKey: "Auf das Klassentoken zeigen",
    play: "Alle Schritte abspielen",
    pause: "Pause",
    next: "Nächster Schritt",
    reset: "Die Zahlen zurücksetzen",
    qName: (n) => `q, Zahl ${n}`,
    kName: (n) => `k, Zahl ${n}`,
    vName: (n) => `v, Zahl ${n}`,
    pair: (query, key) => `Query: ${query}. Key: ${key}`,
    value: (key, share) =>
      `Value: ${key}, mit dem Anteil ${share}, und die Ausgabe des Kopfes: die Summe über alle Tokens`,
    sum: (sum, root, score) => `Summe ${sum}, geteilt durch ${root}: Score ${score}`,
    sumBias: (sum, root, bias, score) =>
      `Summe ${sum}, geteilt durch ${root}, plus ${bias} für den Abstand der Plätze: Score ${score}`,
    steps: {
      query: (d) => `Die Query: ${d} Zahlen.`,
      key: () => "Der Key des anderen Tokens schiebt sich darunter.",
      products: () => "Zahl für Zahl werden beide multipliziert.",
      score: () => "Die Summe, geteilt durch √d, ist der Score dieses einen Paares.",
      scores: (_, tokens) => `Dieselbe Query mit allen ${tokens} Keys: ${tokens} Scores.`,
      softmax: () => "Softmax: e hoch jeden Score, geteilt durch die Summe all dieser Potenzen.",
      values: () => "Der Value jedes Tokens wird mit seinem Anteil multipliziert.",
      output: (d) => `Addiert sind sie die Ausgabe des Kopfes für dieses Token: ${d} Zahlen.`,
    },
    stepOf: (n, all, text) => `Schritt ${n} von ${all}. ${text}`,
    strip: "Alle Tokens: Score, Anteil und Value mal Anteil",
    stripLegend: (share, top) =>
      `Eine Spalte je Token; ▾ ist das Token der Query. Balken der Anteile: bis ${share}; gestrichelt: alle gleich. Zahlen: Blau bis −${top}, Rot bis ${top}.`,
    scores: "Scores",
    shares: "Anteile",
    values: "Values",
    timesShare: "× Anteil",
    outputShort: "Summe",
    of: ({ token, score, share }) => `${token}: Score ${score}, Anteil ${share}`,
    table: "Alle Scores und Anteile als Tabelle",
    tableHead: ["Token", "Score", "Anteil"],
    changed: (moved, length) =>
      `Du hast Zahlen geändert. Die Ausgabe des Kopfes (Länge ${length}) hat sich um ${moved} verschoben. Karte, Anteile, Ausgabe und die Antwort darunter gehören zu deinen Zahlen; der Rest des Modells ist, wie er war.`,
    followed: "Die Antwort mit deinen Zahlen",
    ownAnswer: (label, p) => `Mit seinen eigenen Zahlen sagt das Modell ${label}, ${p}.`,
    sameAnswer: (label, before, after) =>
      `Mit deinen Zahlen in diesem Kopf sagt das Modell weiter ${label}: ${after} statt ${before}. Gestrichelt: seine eigene Antwort.`,
    otherAnswer: (old, before, now, p) =>
      `Mit deinen Zahlen in diesem Kopf sagt das Modell ${now}, ${p}. Mit seinen eigenen sagte es ${old}, ${before} (gestrichelt).`,
    unchanged: "Dies sind die Zahlen des Modells selbst.",
    undone: "Die Zahlen des Modells sind wieder da.",
    headsTitle: "Alle Köpfe nebeneinander",
    headsLead: (heads, d) =>
      `Der Block hat ${heads} Köpfe, und jeder rechnet so mit eigenen q, k und v, also kann jeder woandershin schauen. Für ein Token liefert jeder Kopf ${d} Zahlen. Wähle einen Kopf, um ihn oben zu öffnen.`,
    head: (n) => `Kopf ${n}`,
    headName: ({ n, token, share }) => `Kopf ${n}. Am meisten auf ${token}: ${share}`,
    concatenated: "Ausgaben der Köpfe, aneinandergehängt",
    number: (n) => `Zahl ${n}`,
    projected: "Was die Aufmerksamkeit zu diesem Token addiert",
    projection: (sizes) =>
      `${sizes.heads} × ${sizes.d} = ${sizes.inner} Zahlen, ein Kopf je Zeile, werden mit einer gelernten Matrix von ${sizes.inner} × ${sizes.width} multipliziert, der Projektion, die die Köpfe mischt. Ihre ${sizes.width} Zahlen werden zum Token addiert.`,
    noProjection: (sizes) =>
      `Dieses Modell hat keine Projektion: Seine ${sizes.heads} × ${sizes.d} = ${sizes.inner} Zahlen, ein Kopf je Zeile, werden so zum Token addiert, wie sie sind.`,
    projectionOwn: "Gezeigt wird sie für die Zahlen des Modells selbst.",
    layerScale: "Ein gelernter Faktor für jede Zahl (layer scale) ist eingerechnet.",
    ofPrefix: (name, share) => `${name} ${share}`,
    perHead:
      "In diesem Modell berechnet ein Kopf q, k und v nur aus seinem eigenen Teil des Tokens, nicht aus dem ganzen Token.",
    stem: "Dieses Modell hat Faltungen vor seinen Patches, also hat ein Token mehr gesehen als sein eigenes Quadrat.",
    qkNorm: "q und k sind so gezeigt, wie sie multipliziert werden: nachdem dieses Modell beide normiert hat.",
    relative:
      "Dieses Modell hat relative Positionen: Jeder Score bekommt einen gelernten Bias für den Weg von einem Patch zum anderen.",
  },
  layers: {
    lead:
      "Jedes Token ist eine Liste von Zahlen, und alle laufen nebeneinander durch das Modell: der Residualstrom. Ein Block " +
      "ersetzt nie ein Token. Seine Aufmerksamkeit addiert etwas dazu, dann addiert sein MLP (zwei kleine Schichten von " +
      "Neuronen, dieselben für jedes Token) noch etwas. Darum kann der Klassifikationskopf des Modells, der für den letzten Halt " +
      "gemacht ist, den Strom an jedem Halt unterwegs lesen. Das ist die Logit-Linse (logit lens).",
    meanLead: "Dieses Modell hat kein Klassentoken: Sein Klassifikationskopf liest das Mittel der Patches.",
    task: "Drücke auf einen Kopf, ein MLP oder ein Paar Normierungen, um es wegzulassen, oder auf mehrere. Zeichne dann eine andere Ziffer.",
    notice:
      "An Station 0 sind die Balken für jede Zeichnung gleich, weil das Klassentoken noch keinen Patch gesehen hat. Dann " +
      "entsteht die Antwort: Achte darauf, an welchem Halt, und ob die Aufmerksamkeit oder ein MLP sie verschoben hat.",
    meanNotice:
      "Achte darauf, an welchem Halt die Antwort entsteht, und ob die Aufmerksamkeit oder ein MLP sie verschoben hat.",
    stem: (field) =>
      `In diesem Modell laufen vor den Patches Faltungen, also kennt ein Patch an Station 0 schon ${field} Pixel.`,
    caveat:
      "Eine Linse kann täuschen: Die frühen Halte waren nie dafür gedacht, von diesem Klassifikationskopf gelesen zu werden (Belrose et al.). Und " +
      "ein Teil, dessen Fehlen nichts ändert, muss nicht untätig sein: Andere Teile tun vielleicht dieselbe Arbeit (Michel et al.).",
    cite: {
      residual: "He et al.: Residualverbindungen",
      lens: "nostalgebraist: die Logit-Linse",
      tuned: "Belrose et al.: die abgestimmte Linse",
      heads: "Michel et al.: Sind sechzehn Köpfe besser als einer?",
    },
    figure: "Was der Klassifikationskopf an jedem Halt liest",
    stage: (stage, depth) =>
      stage === 0 ? "Station 0, vor Block 1" : `Station ${stage}, nach Block ${stage}${stage === depth ? ": die Antwort" : ""}`,
    half: (block) => `In Block ${block}, nach seiner Aufmerksamkeit`,
    says: (label, share) => `sagt ${label}, ${share}`,
    lensLabel: (stop, bars) => `${stop}: ${bars}`,
    classToken: "Klassentoken",
    mean: "Mittel der Patches",
    patch: "gewählten Patch",
    length: (reader, own, patch) => `Länge des Stroms: ${reader} ${own}, gewählter Patch ${patch}`,
    block: (block) => `Block ${block}`,
    attention: "Aufmerksamkeit",
    mlp: "MLP",
    norms: "Normierung",
    heads: "Köpfe",
    head: (head) => `Kopf ${head}`,
    leaveOut: {
      head: (block, head) => `Kopf ${head} von Block ${block}`,
      mlp: (block) => `MLP von Block ${block}`,
      norms: (block) => `Normierungen von Block ${block}`,
    },
    toggle: (part) => `${part} weglassen`,
    adds: "Zusatz zum",
    added: (ratio) => `${ratio} ×`,
    addedHint:
      "Der Balken vergleicht die Länge dessen, was addiert wird, mit der Länge des Tokens selbst am Anfang des Blocks. Halb voll: gleich lang.",
    pushes: (changes) => `verschiebt (in Prozentpunkten) ${changes}`,
    change: (label, points) => `${label} um ${points}`,
    still: "verschiebt keine Klasse um einen zehntel Prozentpunkt",
    answer: "Die Antwort",
    whole: (label, share) => `Nichts ist weggelassen. Das Modell liest ${label}, ${share}.`,
    same: (parts, label, before, after) =>
      `Ohne ${parts} liest es weiterhin ${label}: vorher ${before}, jetzt ${after}.`,
    other: (parts, label, old, before, after) =>
      `Ohne ${parts} liest es ${label} statt ${old}. ${old}: vorher ${before}, jetzt ${after}.`,
    parts: (names) => new Intl.ListFormat("de").format(names),
    back: "Alles wieder einsetzen",
    legend: "Umriss: mit allen Teilen. Gefüllt: jetzt.",
    sweep: "Jeden Teil der Reihe nach weglassen",
    sweepLead: (label) => `Was die Antwort ${label} gewinnt oder verliert, wenn ein Teil allein fehlt.`,
    measure: "Gemessen in",
    measures: { points: "Prozentpunkten", odds: "Log-Odds" },
    oddsHint:
      "Nahe 100\u00a0% kann sich die Wahrscheinlichkeit p kaum bewegen. Ihre Log-Odds, ln(p / (1 − p)), zeigen den Schub noch: 1 weniger " +
      "heißt, dass die Chancen p / (1 − p) durch 2,7 geteilt sind.",
    progress: (done, of) => `${done} von ${of} Durchläufen`,
    becomes: (label) => `→ ${label}`,
    worst: (part, points, odds) =>
      `Am meisten geht ohne ${part} verloren: ${points} Prozentpunkte, ${odds} in Log-Odds.`,
    none: "Kein Teil allein nimmt der Antwort etwas.",
  },
  strokes: {
    example: "Ein Foto hat keine Striche, also ist dies das Beispiel der Seite.",
    lead: "Deine Zeichnung, wieder und wieder gelesen, während sie wuchs: Jeder senkrechte Schnitt durch den Streifen zeigt, wie das Modell in diesem Moment 100\u00a0% auf die Klassen verteilt hat. Die Zeit läuft den Weg des Stifts entlang, also braucht ein langsamer Stift nicht mehr Platz als ein schneller.",
    task: "Ziehe über den Streifen oder schiebe den Regler darunter. Das kleine Bild zeigt die Zeichnung, wie sie damals war, mit der Antwort dazu.",
    notice:
      "Eine halbe Ziffer wird vielleicht falsch gelesen, und aus gutem Grund: Die erste Hälfte einer 9 ist eine perfekte 0. Das Modell hat nur aus ganzen Ziffern gelernt, und jede unfertige Zeichnung wird zentriert und vergrößert wie eine ganze, also füllt schon der erste Punkt sein Bild.",
    noticePale:
      "Eine halbe Ziffer wird vielleicht falsch gelesen, und aus gutem Grund: Die erste Hälfte einer 9 ist eine perfekte 0. Darum zeigt die Seite dem Modell deine Zeichnung in blasser Tinte, solange der Stift unten ist, und das Modell hat aus unfertigen Zeichnungen in dieser Tinte gelernt, was das heißt: Es kann noch mehr kommen. Es zweifelt, bis der Stift sich hebt.",
    strip: "Wahrscheinlichkeiten, während du gezeichnet hast",
    time: "Wie viel von der Tinte gezeichnet ist",
    replay: "Abspielen",
    put: "Diesen Moment aufs Blatt legen",
    undo: "„Zurück“ holt dann die ganze Zeichnung wieder.",
    start: "erster Punkt",
    end: "ganze Zeichnung",
    stroke: (n) => `Strich ${n}`,
    sure: "Die Linie unter dem Streifen: wo sich das Modell seiner Antwort sicher ist.",
    reading: (done, all) => `${done} von ${all} Momenten gelesen`,
    read: (all) => `${all} Momente gelesen`,
    moment: (share, label, p) => `${share} der Tinte: ${label}, ${p}`,
    blank: (share) => `${share} der Tinte: noch nichts zu lesen`,
    changes: (runs, all) => {
      const [last, ...before] = [...runs].reverse();
      if (!last) return "";
      if (all === 1) return `Vom ersten Punkt bis zum Ende sagte es ${last.label}.`;
      const earlier = before.reverse().map(({ label, share }, i) => (i === 0 ? `Bei ${share} der Tinte sagte es ${label}` : `bei ${share} ${label}`));
      const many = all > runs.length ? `Die Antwort änderte sich ${all - 1}-mal. ` : "";
      return `${many}${earlier.join(", ")} und ab ${last.share} ${last.label}.`;
    },
    first: (label, share) => ` Zum ersten Mal hatte es ${label} bei ${share} gesagt.`,
  },
  doubt: {
    lead:
      "Der Klassifikationskopf gibt jeder Klasse eine Zahl, ihr Logit. Softmax macht daraus Wahrscheinlichkeiten: e hoch jedes Logit, dann " +
      "geteilt durch die Summe. Also zählen nur Unterschiede zwischen Logits. Vorher werden alle durch die Temperatur T " +
      "geteilt: Unter 1 macht sie die Antwort sicherer, über 1 unsicherer.",
    task: "Ziehe an einer Spalte oder bewege sie mit den Pfeiltasten. Verändere dann die Temperatur.",
    notice: "Keine Temperatur ändert, welche Klasse vorn liegt. Sie ändert nur, wie sicher die Antwort klingt.",
    cite: "Guo et al., „On Calibration of Modern Neural Networks“, arXiv:1706.04599.",
    ofDrawing: "Dies sind die Logits deiner Zeichnung.",
    ofDigit: (d) =>
      d.truth === d.label
        ? `Testbild ${d.number} von MNIST: als ${d.truth} beschriftet, und das Modell liest ${d.label}, ${d.share}.`
        : `Testbild ${d.number} von MNIST: als ${d.truth} beschriftet, doch das Modell liest ${d.label}, ${d.share}. ` +
          `${d.truth} bekommt ${d.truthShare}.`,
    changed: "Du hast sie geändert.",
    reset: "Zurück zu den Logits des Modells",
    toDrawing: "Zurück zu meiner Zeichnung",
    table: "Softmax, Schritt für Schritt",
    columns: { class: "Klasse", sum: "Summe" },
    rows: {
      slider: "ziehen",
      logit: "Logit z",
      scaled: "z ÷ T",
      power: "e hoch (z ÷ T − größtes)",
      share: "Wahrschein\u00adlichkeit",
    },
    slider: (label) => `Logit der Klasse ${label}`,
    value: (logit, share) => `${logit}; Wahrscheinlichkeit ${share}`,
    moved: (label, share, best, bestShare) =>
      label === best ? `${label} hat jetzt ${share}.` : `${label} hat jetzt ${share}. Vorn liegt ${best}, ${bestShare}.`,
    largest:
      "Das größte wird zuerst abgezogen. Das Ergebnis bleibt gleich, und keine Potenz wird zu groß für einen Computer.",
    temperature: "Temperatur T",
    temperatureIs: (t, own) => `T = ${t}${own ? ", die eigene des Modells" : ""}`,
    ownTemperature: (t) => `Die eigene des Modells: ${t}`,
    sum: (label, power, sum, share) =>
      `Die Potenzen ergeben zusammen ${sum}. Davon hat ${label} ${power}: ${share}.`,

    reliability: "Ist es so oft richtig, wie es sicher ist?",
    reliabilityLead: (images, model) =>
      `${images} Testziffern von MNIST, aus denen das Modell „${model}“ nicht gelernt hat, danach in 15 Fächer sortiert, wie sicher ` +
      "die Antwort war. Ein Punkt ist ein Fach: nach rechts, wie sicher; nach oben, wie viele Antworten richtig waren; der " +
      "Strich durch ihn, wo der wahre Anteil wahrscheinlich liegt (Wilson-Intervall, 95\u00a0%). Auf der Diagonale heißt „zu 80\u00a0% " +
      "sicher“: in 8 von 10 Fällen richtig.",
    other: (model) => `Auf der Seite läuft jetzt ein anderes Modell. Diese Zahlen sind die von „${model}“.`,
    diagram: "Zuverlässigkeitsdiagramm",
    sure: "wie sicher",
    right: "wie oft richtig",
    counts: "Ziffern je Fach (logarithmisch)",
    youAreHere: "du bist hier",
    here: (d) =>
      `Du bist hier: ${d.share}. Bei ${d.count} Testziffern war die Antwort zu ${d.from} bis ${d.to} sicher. ` +
      `Richtig waren davon ${d.right}, also ${d.rightShare}.`,
    hereEmpty: (share, from, to) =>
      `Du bist hier: ${share}. Bei dieser Temperatur war bei keiner Testziffer die Antwort zu ${from} bis ${to} sicher.`,
    gaps: (now, t, before, own, ownT) =>
      `Die mittlere Lücke zwischen sicher und richtig (expected calibration error) beträgt ${now} Prozentpunkte bei T = ${t}. ` +
      `Ohne Temperatur, T = 1, sind es ${before}; bei der eigenen des Modells, ${ownT}, sind es ${own}.`,
    atOne: (sure, right, modest) =>
      `Bei T = 1 sind die Antworten im Mittel zu ${sure} sicher, und ${right} sind richtig: Das Modell ist zu ` +
      `${modest ? "bescheiden" : "kühn"}. Seine eigene Temperatur wurde an anderen Bildern so gewählt, dass beides übereinstimmt.`,
    points: (bins) => `Fächer, die nicht leer sind: ${bins}`,
    point: (sure, right, count) => `zu ${sure} sicher, ${right} richtig, ${count} Ziffern`,

    worst: "Seine zwanzig schlechtesten",
    worstLead: (model) =>
      `Bei diesen Testziffern hat „${model}“ den größten Verlust (loss): −ln der Wahrscheinlichkeit, die es der richtigen Klasse gibt. ` +
      "Manche sind auch für Menschen schwer, und über manche Beschriftung lässt sich streiten. Wähle eine, und die Spalten und „du bist hier“ folgen.",
    digit: (number, truth) => `Testbild ${number}, als ${truth} beschriftet`,
    without:
      "In diesem Build fehlen sie, weil die Bilder von MNIST nicht zum Repository gehören. Um sie zu bekommen, lege die vier " +
      "Dateien von MNIST in einen Ordner, nenne ihn in $VITRINE_DATA und führe aus: npm run build",
    notLoaded: "Die Ziffern wurden nicht geladen; lade die Seite neu, um es noch einmal zu versuchen.",
  },
  masks: {
    leads: [
      "Jeder Transformer berechnet Aufmerksamkeit wie oben. Der Unterschied ist, welche Scores zählen. Ein Encoder wie dieser ViT liest alle seine Tokens auf einmal: Jedes darf auf jedes schauen. Ein Decoder schreibt ein Token nach dem anderen, also darf keines auf das schauen, was noch nicht geschrieben ist: Vor der Softmax setzt eine kausale Maske diese Scores auf −∞, und ihre Anteile sind 0.",
      "Bei der Kreuz-Aufmerksamkeit (cross attention) stammen die Querys vom Decoder, die Keys und Values vom Encoder: Was gerade geschrieben wird, befragt, was gelesen wurde.",
    ],
    task: "Wähle eine Maske. Sie wird auf die Scores deiner eigenen Zeichnung angewandt, in der gewählten Schicht und im gewählten Kopf; dann folgt die Softmax. Klicke auf eine Zeile, um zu sehen, was ihr Token sieht.",
    notice: {
      full: "Voll: Nichts ist schraffiert. Das ist die Matrix, die das Modell wirklich verwendet hat.",
      causal: "Kausal: über der Diagonale schraffiert. Das erste Token sieht nur sich selbst, mit 100\u00a0%. Hier ist das das Klassentoken, es würde also nichts über deine Zeichnung erfahren: Decoder lesen ihre Antwort stattdessen am letzten Token ab.",
      cross: "Über Kreuz: nicht quadratisch. Es gibt so viele Zeilen wie Querys und so viele Spalten wie Keys. Ein Decoder, der eine Bildunterschrift schreibt, hätte eine Zeile für jedes Wort.",
    },
    causalPlain: "Kausal: über der Diagonale schraffiert. Das erste Token sieht nur sich selbst, mit 100\u00a0%: Decoder lesen ihre Antwort am letzten Token ab.",
    honest: "Dieses Modell hat nie mit einer Maske gelernt, und ein ViT hat keinen Decoder: Nur die Scores dieses einen Kopfes sind hier maskiert, und die Schichten davor liefen ohne Maske.",
    crossClass: "Als einzige Query des Decoders dient die des Klassentokens, und die Keys sind allein die der Patches. Das ist nicht weit hergeholt: In den letzten Schichten von CaiT fragt nur das Klassentoken, und die Patches (und es selbst) antworten.",
    crossPatch: "Als einzige Query des Decoders dient die des gewählten Patches, weil dieses Modell kein Klassentoken hat.",
    chips: "Welche Scores zählen?",
    full: "voll",
    causal: "kausal",
    cross: "über Kreuz",
    matrix: "Anteile nach Maske und Softmax",
    axes: {
      full: "Zeilen: wer fragt. Spalten: wer gefragt wird. Das Klassentoken zuerst, dann die Patches Zeile für Zeile. Die Farben enden bei 25\u00a0%.",
      causal: "Zeilen: wer fragt. Spalten: wer gefragt wird, schraffiert, wo maskiert ist. Das Klassentoken zuerst, dann die Patches Zeile für Zeile. Die Farben enden bei 25\u00a0%.",
      cross: "Eine Zeile: die Query. Spalten: die Patches, Zeile für Zeile. Die Farben enden bei 25\u00a0%.",
    },
    map: "Die gewählte Zeile auf deiner Zeichnung",
    asks: (token) => `Query: ${token}`,
    asked: (token) => `Key: ${token}`,
    sums: ({ rows, least, most }) =>
      rows === 1 ? `Die Zeile ergibt zusammen ${most}.` : `Alle ${rows} Zeilen ergeben zusammen je 1: Die kleinste Summe ist ${least}, die größte ${most}.`,
    masked: (masked, all) => `${masked} von ${all} Zellen sind maskiert.`,
    sees: ({ token, seen, all, sum }) =>
      `Query: ${token}. Sie sieht ${seen} von ${all} Tokens; ihre Anteile ergeben zusammen ${sum}.`,
    usesTitle: "Wer was verwendet",
    usesHead: ["", "voll", "kausal", "über Kreuz"],
    uses: [
      ["ViT, BERT: Encoder", "in jeder Schicht", "–", "–"],
      ["GPT: ein Decoder", "–", "in jeder Schicht", "–"],
      ["Übersetzer (Vaswani et al.)", "unter den Wörtern, die er liest", "unter den Wörtern, die er geschrieben hat", "von jedem geschriebenen Wort zu den Wörtern, die er liest"],
      ["Bildbeschreiber mit einem ViT", "unter den Patches", "unter den Wörtern der Bildunterschrift", "von jedem Wort der Bildunterschrift zu den Patches"],
      ["CaiT: ein ViT", "unter den Patches, in allen Schichten außer den letzten zwei", "–", "vom Klassentoken zu den Patches und zu sich selbst, in den letzten zwei Schichten"],
    ],
    cite: "Die drei Verwendungen der Aufmerksamkeit: Vaswani et al., Abschnitt 3.2.3, arXiv:1706.03762.",
    citeCait: "Die Klassen-Aufmerksamkeit von CaiT: Touvron et al., arXiv:2103.17239.",
  },
  teachIt: {
    title: "Ein Zeichen beibringen",
    signs: "Meine Zeichen",
    first: "Zeichne dein Zeichen auf das Blatt.",
    more: (count) => (count === 1 ? "Und noch einmal." : "Zeichne es noch zweimal, so wie du es morgen tätest."),
    enough: "Das genügt. Wie heißt es?",
    drawings: "Die Zeichnungen dieses Zeichens",
    removeDrawing: (index) => `Zeichnung ${index} entfernen`,
    name: "Wie heißt es?",
    placeholder: "Stern",
    known: "Oder kennt es das schon?",
    itIs: (label) => `Es ist ${label}`,
    honest: "Es übt auch seine Ziffern und Gekritzel, damit es weiter ehrlich sagt, was es nicht kennt.",
    cancel: "Abbrechen",
    next: "Nächste Zeichnung",
    learn: "Lernen",
    stop: "Anhalten",
    learning: "Es lernt, in diesem Tab …",
    step: ({ step, steps, right, seconds }) => `Schritt ${step} von ${steps} · ${right} richtig · noch ${seconds} s`,
    taught: (seconds, right, all) => `In ${seconds} s gelernt: Es liest ${right} von deinen ${all} Zeichnungen.`,
    stopped: "Angehalten. Das Modell ist so wie vorher.",
    failed: (why) => `Es konnte das nicht lernen: ${why}`,
    none: "Noch kein Zeichen. Drei Zeichnungen von jedem genügen.",
    remove: (label, index) => `Zeichnung ${index} von ${label} entfernen`,
    changed: "Deine Zeichnungen sind anders als beim letzten Lernen.",
    again: "Noch einmal lernen",
    another: "Noch eins beibringen",
    forget: "Alles vergessen",
    undo: "Zurück",
    download: "Herunterladen",
    upload: "Laden …",
    link: "Link kopieren",
    close: "Schließen",
    kept: "Bleiben in diesem Browser, bis du sie vergessen lässt.",
    notKept: "Dieser Browser hebt nichts auf. Lade das Modell herunter, um es später zu haben.",
    uploaded: (file) => `Jetzt liest ${file}.`,
    refused: (file, why) => `${file} wurde nicht angenommen: ${why}`,
    photos: "Es liest Fotos und keine Zeichnungen; „Eigener ViT“ zeigt es",
    linked: "Diese Zeichnungen kamen mit dem Link. Drücke „Noch einmal lernen“, und das Modell lernt sie hier.",
    damaged: "Die Zeichnungen im Link sind beschädigt.",
    tooLarge: "Zu viele Zeichnungen für einen Link: Lade stattdessen das Modell herunter. Seine Datei enthält sie.",
  },
  teach: {
    lead:
      "Sechs Aufgaben für eine Unterrichtsstunde von 45 Minuten, ab etwa 15 Jahren. Jede braucht nur diese Seite: kein Konto, und keine Zeichnung verlässt den Tab. Einmal geladen, funktioniert die Seite ohne Netz.",
    print: "Diese Seite drucken",
    look: "Worauf zu achten ist",
    exercises: [
      {
        chapter: "positions",
        title: "Kommt es auf die Reihenfolge an?",
        task: "Zeichne eine 7. Wähle in „Wo bin ich?“ „keine“ und mische die Patches. Wähle dann „2-D sin-cos“ und mische noch einmal.",
        look: "Ohne Positionen ändert sich kein Wert, weil die Aufmerksamkeit über eine Menge summiert und eine Menge keine Reihenfolge hat. Mit Positionen zerfällt die Antwort: Dieselben Patches sagen nun, dass sie woanders sind.",
      },
      {
        chapter: "score",
        title: "Ein Score von Hand",
        task: "Wähle in „Ein Score von Hand“ einen Patch auf deiner Tinte und einen daneben. Multipliziere auf Papier die ersten vier Zahlen von q und k. Lass dann die Seite alle rechnen.",
        look: "Der Score ist eine Summe von Produkten, geteilt durch √d: groß, wo q und k in dieselbe Richtung zeigen. Softmax macht aus allen Scores Anteile, also kann ein Token auf einen Patch nur mehr schauen, wenn es auf andere weniger schaut.",
      },
      {
        chapter: "masks",
        title: "Wer darf auf wen schauen?",
        task: "Schalte in „Encoder, Decoder“ von voller auf kausale Aufmerksamkeit um. Suche die Zeile des ersten und die Zeile des letzten Patches.",
        look: "Mit der kausalen Maske kann die erste Zeile nur auf sich selbst schauen, und die letzte Zeile sieht weiterhin alles. Ein Modell, das ein Wort nach dem anderen schreibt, braucht das; eines, das ein ganzes Bild liest, nicht.",
      },
      {
        chapter: "layers",
        title: "Wann weiß es die Antwort?",
        task: "Zeichne eine 4, die sich oben fast schließt. Lies in „Schicht für Schicht“, was das Modell nach jedem Block sagen würde. Lass dann einen Kopf nach dem anderen weg.",
        look: "Die Antwort entsteht oft in den letzten Blöcken, und die meisten einzelnen Köpfe können fehlen, ohne dass sie sich ändert: Sie teilen sich die Arbeit (Michel et al., arXiv:1905.10650). Notiere, auf welchen Kopf deine Ziffer nicht verzichten kann.",
      },
      {
        chapter: "strokes",
        title: "Eine halbe Ziffer",
        task: "Zeichne eine 9 und beginne mit ihrer Schlaufe. Ziehe in „Während du gezeichnet hast“ zu dem Moment zurück, in dem nur die Schlaufe da war.",
        look: "Die Schlaufe allein ist eine 0 oder der Anfang einer 6, 8 oder 9. Ein gutes Modell verteilt seine Wahrscheinlichkeit dort. Ist dieses ehrlich? Vergleiche mit dem, was du gesagt hättest.",
      },
      {
        chapter: "doubt",
        title: "Was heißen 90\u00a0%?",
        task: "Zeichne etwas zwischen einer 4 und einer 9. Verändere in „Softmax und Zweifel“ die Temperatur und lies dann das Zuverlässigkeitsdiagramm.",
        look: "Die Temperatur ändert nie, welche Klasse vorn liegt, nur, wie sicher das Modell klingt. Kalibriert heißt: Von allen Antworten bei 90\u00a0% sind etwa neun von zehn richtig, bei Ziffern wie denen, an denen gemessen wurde.",
      },
    ],
  },
} satisfies Translation;
