/** The page's words in French. */
import { decimal, type Translation } from "./words.ts";

export const fr = {
  language: {
    failed: (wanted, stays) =>
      `${wanted} n’a pas été chargé, ${stays} reste\u202f; vérifiez la connexion, puis choisissez à nouveau`,
  },
  theme: {
    useLight: "Utiliser des couleurs claires",
    useDark: "Utiliser des couleurs sombres",
  },
  answer: {
    certain: "certain",
    sure: "assez sûr",
    unsure: "pas sûr",
    unknown: "aucun chiffre connu",
    unknownSign: "rien de connu",
    next: (p, label, other) => `${p}\u202f; puis ${label}, ${other}`,
    nearest: (label, p) => `le plus proche\u202f: ${label}, ${p}`,
    yours: (count) => (count === 1 ? "votre signe, d’après un dessin" : `votre signe, d’après ${count} dessins`),
    teach: "Apprenez-lui ce signe",
    not: (label) => `pas un ${label}\u202f?`,
    onlyThese:
      "Il ne connaît que les signes ci-dessous. Trois dessins suffisent pour en ajouter un à vous.",
    readsAs: (label, p) => `Se lit ${label}, ${p}`,
    unsureOf: (label, p) => `Pas sûr, peut-être ${label}, ${p}`,
    seesNone: "Ne voit aucun chiffre",
  },
  looks: {
    kinds: {
      crossing: "le croisement",
      end: "le bout du trait",
      turn: "le coude",
      bend: "la courbe",
      line: "le trait",
      ink: "l’encre",
      gap: "le vide",
    },
    positions: {
      topLeft: "en haut à gauche",
      top: "en haut",
      topRight: "en haut à droite",
      left: "à gauche",
      middle: "au milieu",
      right: "à droite",
      bottomLeft: "en bas à gauche",
      bottom: "en bas",
      bottomRight: "en bas à droite",
    },
    at: (kind, position) => `${kind} ${position}`,
    both: (a, b) => `${a} et ${b}`,
    it: "Il regarde surtout {1}\u202f: ",
    patch: "Le patch choisi regarde surtout {1}\u202f: ",
    hold: (patches, all, share) =>
      patches === 1
        ? `un patch sur ${all} porte ${share} de son attention.`
        : `${patches} patchs sur ${all} portent ${share} de son attention.`,
    spread: (p) => `Il regarde un peu partout\u202f: aucun patch ne porte plus de ${p} de son attention.`,
    onePatch: (p) => `${p} sur un patch`,
  },
  waiting: {
    ink: "Attend l’encre",
    loading: "Chargement",
    noModel: "Pas de modèle",
    more: "Plus d’encre",
    noInk: "Pas d’encre trouvée",
    reading: "Lecture",
  },
  pad: {
    hint: "Dessinez un chiffre ici",
    yourTurn: "À vous\u202f: dessinez dessus",
    blank: "La feuille est vide",
    cleared: "Effacé",
    example: (label) => `Un exemple\u202f: ${label}`,
  },
  maps: {
    mean: "moyenne",
    button: (layer, head) => `Couche ${layer}, tête ${head}`,
    tick: (p) => `repère\u202f: toutes égales, ${p}`,
    most: (row, column, p) => `Maximum à la ligne ${row}, colonne ${column}\u202f: ${p}.`,
    chosen: (row, column) => `Patch ligne ${row}, colonne ${column}.`,
    none: "Dessinez, et chaque patch prend la couleur de l’attention qu’il reçoit.",
    allHeads: "moyenne de toutes les têtes",
    head: (head) => `tête ${head}`,
    ofClass: (layer, heads) =>
      `Attention du jeton de classe à chaque patch dans la couche ${layer}, ${heads}.`,
    ofMean: (layer, heads) =>
      `Attention de la moyenne de tous les patchs à chaque patch dans la couche ${layer}, ${heads}.`,
    ofPatch: (row, column, layer, heads) =>
      `Attention du patch ligne ${row}, colonne ${column} à chaque patch dans la couche ${layer}, ${heads}.`,
    toClass:
      "La part de chaque patch qui parvient au jeton de classe à travers toutes les couches (Abnar & Zuidema, 2020).",
    toMean:
      "La part de chaque patch qui parvient à la moyenne de tous les patchs à travers toutes les couches (Abnar & Zuidema, 2020).",
    similarity: (row, column) =>
      `Similarité de chaque patch avec le patch ligne ${row}, colonne ${column} après la dernière couche\u202f: le cosinus de leurs vecteurs.`,
    common: (p) => `${p}, une échelle pour toutes`,
  },
  models: {
    digits: "digits",
    "digits-plain": "digits-plain\u202f: sans convolutions avant",
    "digits-large": "digits-large\u202f: 2,4 fois plus grand",
    myvit: "myvit\u202f: le minuscule ViT du tutoriel",
    signs: "mes signes",
  },
  calibration: {
    never:
      "Elles n’ont jamais été calibrées\u202f: le modèle peut avoir raison plus ou moins souvent qu’elles ne le disent.",
    scaled: (temperature) =>
      `Les scores sont d’abord divisés par ${temperature}. À 90\u202f%, environ neuf réponses sur dix sont justes, pour des chiffres comme ceux de l’apprentissage.`,
    limit: (p) => `Une réponse en dessous de ${p} compte comme incertaine.`,
  },
  status: {
    kilobytes: (count) => `${count} ko`,
    megabytes: (count) => `${count} Mo`,
    fetching: (loaded) => `Chargement du modèle\u202f: ${loaded}`,
    fetchingOf: (loaded, total) => `Chargement du modèle\u202f: ${loaded} sur ${total}`,
    opening: (size) => `Ouverture des fichiers\u202f: ${size}`,
    ready: "Prêt",
    time: (milliseconds) => `${milliseconds} ms par dessin`,
    running: (build, size) => `${size} de nombres appris, calculés par ${build}.`,
    builds: {
      relaxed: "le programme le plus rapide pour ce navigateur (WebAssembly, relaxed SIMD)",
      simd128: "le programme rapide (WebAssembly avec SIMD)",
      scalar: "le programme simple (WebAssembly sans SIMD)",
    },
    retry: "Réessayer",
  },
  trouble: {
    because: (what, why) => `${what}\u202f: ${why}`,
    remedied: (what, remedy) => `${what}\u202f; ${remedy}`,
    remedy: "vérifiez la connexion, puis «\u202fRéessayer\u202f»",
    answered: (status) => `le serveur a répondu ${status}`,
    broken: "la connexion a échoué ou s’est interrompue",
    server: "le serveur",
    stopped: "Le modèle s’est arrêté",
    notLoaded: "Le modèle n’a pas été chargé",
    stays: (wanted, old) => `${wanted} n’a pas été chargé, ${old} reste`,
    light: "sa forme légère",
    story: "Cette partie n’a pas été chargée",
    tab: "Le code de cet onglet n’a pas été chargé",
    action: (why) => `Cela n’a pas marché\u202f: ${why}`,
  },
  share: {
    share: "Partager",
    damaged:
      "Le dessin contenu dans ce lien est abîmé ou tronqué et a été laissé de côté. Redemandez le lien.",
    large: "Ce dessin est trop grand pour un lien\u202f: enregistrez plutôt son image.",
    photo: "Un lien contient des traits et pas de photo\u202f: enregistrez plutôt l’image.",
    shared: "Partagé\u202f: le lien contient le dessin.",
    copied: "Lien copié\u202f: il contient le dessin.",
    refused:
      "Le navigateur ne laisse pas la page copier. L’adresse ci-dessus contient maintenant le dessin\u202f: copiez-la.",
    saved: "L’image est enregistrée parmi vos téléchargements.",
    codeCopied: "Copié",
    codeRefused:
      "Le navigateur ne laisse pas la page copier. Le code est sélectionné\u202f: copiez-le au clavier.",
    noPng: "le navigateur n’a pas pu créer de PNG",
  },
  own: {
    noPhoto: "Pas encore de photo",
    seen: (name) => `Ce que le modèle voit\u202f: ${name}`,
    theCamera: "la caméra",
    ourExample: "notre exemple",
    ourDigit: "notre photo d’un chiffre",
    invitePhoto: "Déposez ou collez une photo ici, ou choisissez-en une",
    inviteAll: "Déposez ici le dossier d’un checkpoint et une photo, ou choisissez des fichiers",
    noModel: "Chargez un checkpoint, et chaque patch prend la couleur de l’attention qu’il reçoit.",
    givePhoto: "Donnez une photo au modèle.",
    looking: "Regarde…",
    noCheckpoint: "Pas encore de checkpoint",
    headless: "Le modèle n’a pas de tête de classification et ne nomme rien. Similarité avec le patch choisi\u202f:",
    untrained: "Le modèle n’est pas entraîné\u202f: il devine",
    sees: "Le modèle voit",
    waiting: "Attend une photo",
    cosines: (least) => `Similarités cosinus de ${least} à 1`,
    shown: "L’attention est affichée",
    photo: "Cette photo ne peut pas être lue",
    checkpoint: "Ce checkpoint ne peut pas être lu",
    answer: "La réponse ne peut pas être utilisée",
    camera: "La caméra ne peut pas être ouverte",
    nothing: "Rien à montrer",
    asks: (key) => `Les fichiers ne donnent pas «\u202f${key}\u202f» pour ce modèle\u202f: répondez ci-dessous.`,
    guessed:
      "Les fichiers ne disent pas comment les pixels deviennent des nombres. La manière d’ImageNet est utilisée\u202f; choisissez-en une autre ci-dessus.",
    orPixels: "ou choisissez les pixels ci-dessus",
    misfit: (got) =>
      `Attendu\u202f: le fichier .safetensors, .bin, .pt ou .pth d’un checkpoint ou une image\u202f; reçu\u202f: ${got}`,
    otherFiles: (count) => `${count} autres fichiers`,
    noFiles: "rien",
    unreadable: (name, got) => `${name}\u202f: attendu une image que ce navigateur sait lire, reçu ${got}`,
    unknownType: "un fichier de type inconnu",
    heic: "une photo HEIC\u202f: convertissez-la en JPEG",
    noCamera: "attendu une page en https ou de localhost, ce n’est ni l’un ni l’autre",
    choose: "choisissez…",
    noJson: (got) => `config\u202f: attendu un objet JSON, comme {"heads": 3}, reçu ${got}`,
    pixels: {
      own: "ceux des fichiers, ou d’ImageNet",
      imagenet: "moyenne et écart-type d’ImageNet",
      half: "de −1 à 1",
      clip: "moyenne et écart-type de CLIP",
      unit: "de 0 à 1",
    },
    facts: {
      model: "Modèle",
      names: "Noms",
      family: "Famille",
      assumed: "Supposé",
      skipped: "Écarté",
      load: "Chargement",
      memory: "Mémoire",
      speed: "Vitesse",
      shape: (depth, width, heads, patch, image) =>
        `couches\u202f: ${depth}, largeur\u202f: ${width}, têtes\u202f: ${heads}, patchs de ${patch} dans ${image}`,
      classes: (count) => `, classes\u202f: ${count || "aucune"}`,
      untrained: ", non entraîné",
      imagenet: "ceux d’ImageNet, car ses 1000 classes n’en ont pas",
      tensors: (count) => `${count} tenseurs qui ne sont pas du modèle d’image`,
      loaded: (size, seconds) => `${size} en ${seconds} s`,
      used: (size) => `${size} de mémoire WebAssembly`,
      time: (milliseconds, how) => `${milliseconds} ms par photo (${how})`,
      threads: (count) => `, ${count} fils d’exécution`,
    },
  },
  page: {
    title: "Vitrine\u202f: un Vision Transformer sous verre",
    description:
      "Dessinez un chiffre et regardez un Vision Transformer le lire dans votre navigateur, attention comprise.",
    language: "Langue",
    tabs: "Que regarder",
    tabDraw: "Dessiner",
    tabOwn: "Votre ViT",
    heading: "Dessinez un chiffre.",
    lead: "Un petit Vision Transformer le lit pendant que votre stylo avance, et montre où il regarde. Rien ne quitte cet onglet.",
    drawing: "Dessin",
    padRole: "feuille à dessin",
    padLabel: "Dessinez un chiffre ici",
    padKeys:
      "Les flèches déplacent le stylo, avec Maj par plus grands pas. Espace ou Entrée pose le stylo ou le lève. Contrôle Z annule un trait, Contrôle Y le rétablit. Échap ou Suppr efface la feuille.",
    undo: "Annuler",
    undoTitle: "Annuler (Ctrl+Z)",
    redo: "Rétablir",
    redoTitle: "Rétablir (Ctrl+Maj+Z)",
    clear: "Effacer",
    clearTitle: "Effacer (Échap)",
    examples: "Exemples de dessins",
    photo: "Lire la photo d’un chiffre",
    photoTitle: "Lire la photo d’un chiffre\u202f: choisissez-en une, déposez-la ou collez-la",
    takeaway: "Enregistrer le dessin ou son code",
    shareTitle: "Un lien qui contient le dessin",
    save: "Image",
    saveTitle: "Enregistrer le dessin et la carte en PNG",
    code: "Code",
    codeTitle: "Le code qui lit ce dessin",
    model: "Modèle",
    keys: "Les flèches déplacent le stylo et {1} le pose. {2} {3} annule, {4} {5} rétablit, {6} efface.",
    space: "Espace",
    ctrl: "Ctrl",
    esc: "Échap",
    reading: "Ce que le modèle lit",
    bars: "Probabilité de chaque classe",
    where: "Où il regarde",
    map: "Carte",
    mapClass: "Jeton de classe",
    mapPatch: "Patch sous le pointeur",
    mapRollout: "Rollout",
    mapSimilarity: "Similarité avec le patch",
    layer: "Couche",
    head: "Tête",
    strength: "Intensité",
    axes: "Les couches vont de gauche à droite, les têtes de haut en bas. Choisissez-en une.",
    maps: "Toutes les couches et têtes\u202f; choisissez-en une",
    journey: "De l’encre à la réponse",
    patchRole: "choix de patch",
    pixelsLabel: "Ce que le modèle voit",
    pixelsKeys: "Les flèches choisissent le patch dont l’attention est montrée.",
    pixels: "Pixels",
    pixelsText: "Votre encre, centrée dans {1}. Le modèle ne voit que cela.",
    convolutions: "Convolutions",
    convolutionsText: "{1} à la suite, de 3\u00a0×\u00a03 chacune. Un carré voit ainsi jusqu’à {2} pixels.",
    patches: "Patchs",
    patchesText: "Découpée en {1} carrés de {2} pixels, lus ligne par ligne.",
    tokens: "Jetons",
    tokensText: "Chaque carré devient une ligne de {1} nombres. Un jeton de classe vient en premier.",
    blocks: "Blocs",
    blocksText: "{1} fois, chaque jeton (ligne) prend ce qu’il lui faut de tous les jetons (colonnes).",
    logits: "Logits",
    logitsText: "Le jeton de classe donne {1} scores\u202f; le softmax en fait des probabilités.",
    overlay: "Superposition",
    overlayText: "L’attention du jeton de classe, posée sur votre encre\u202f: c’est là qu’il a regardé.",
    reliable: "Les probabilités sont-elles fiables\u202f?",
    paper: "Le Vision Transformer est de Dosovitskiy et al., {1}.",
    source: "Code source",
    documents: "Documentation",
    licence: "Licence MIT",
    codeHeading: "Le code qui lit ce dessin",
    codePage: "Page web",
    copy: "Copier",
    close: "Fermer",
    orTry: "ou essayez",
    closer: "Regarder de près",
    mySigns: "Mes signes",
    machine: "Le modèle, et ce que vous pouvez emporter",
    down: "Comment il lit\u202f: {1} étapes, sur votre propre dessin",
    local: "rien ne quitte cet onglet",
  },
  chapters: {
    patches: "Du patch au jeton",
    positions: "Où suis-je\u202f?",
    score: "Un score à la main",
    layers: "Couche après couche",
    strokes: "Pendant que vous dessiniez",
    doubt: "Softmax et doute",
    learning: "Comment il a appris",
    cnn: "À côté d’un réseau convolutif",
    masks: "Encodeur, décodeur",
    why: "Quels patchs ont parlé pour cette classe",
  },
  ownPage: {
    heading: "Votre propre ViT.",
    lead: "Déposez une photo et un checkpoint (safetensors ou PyTorch, de timm, transformers, torchvision ou vit-pytorch). Voyez où regarde chaque tête. Rien ne quitte cet onglet.",
    photo: "Photo",
    photoKeys: "Les flèches choisissent le patch dont l’attention ou la similarité est montrée.",
    choosePhoto: "Photo…",
    camera: "Caméra",
    example: "Exemple",
    checkpoint: "Checkpoint",
    files: "Fichiers d’un checkpoint, ou une photo",
    drop: "Déposez des poids ou une photo, ou choisissez des fichiers",
    chooseFolder: "Dossier…",
    random: "Un petit modèle aléatoire",
    digits: "Nos chiffres, sur une photo",
    known: "Des fichiers qui se chargent tels quels",
    knownHow: "Déposez-en un avec les fichiers config.json et preprocessor_config.json qui l’accompagnent.",
    pixels: "Pixels",
    config: "Config",
    configHint: 'clés manquantes, comme {"heads": 3}',
    reading: "Ce que le modèle voit dans la photo",
    classes: "Les classes les plus probables",
  },
  grid: {
    kind: "grille de nombres",
    keys: "Les flèches vont de case en case. Entrée choisit une case.",
    signed: (top) => `Bleu\u202f: jusqu’à −${top}. Rouge\u202f: jusqu’à ${top}.`,
    hidden: "masqué",
    tick: (uniform) => `repère\u202f: toutes égales, ${uniform}`,
    cell: ({ row, column, value }) => `${row}, ${column}\u202f: ${value}`,
    largest: ({ row, column, value }) => `Maximum\u202f: ${row}, ${column}, ${value}`,
  },
  story: {
    title: "À l’intérieur\u202f: votre dessin, pas à pas",
    rail: "Votre dessin et la réponse",
    railPad: "Dessinez aussi ici",
    layer: "Couche",
    head: "Tête",
    blank: "feuille vide",
    clear: "Effacer",
    chosen: (row, col) => `Patch\u202f: ligne ${row}, colonne ${col}`,
    patch: (row, col) => `ligne ${row}, colonne ${col}`,
    row: (n) => `ligne ${n}`,
    column: (n) => `colonne ${n}`,
    classToken: "jeton de classe",
    prefixToken: (n) => `jeton de préfixe ${n}`,
    loading: "Chargement…",
  },
  patches: {
    lead: (patches, pixels) =>
      `L’image est découpée en ${patches} carrés, appelés patchs. Pour le modèle, un patch n’est pas une image mais une liste\u202f: ses ${pixels} pixels, lus ligne par ligne, 0 pour le papier et 1 pour l’encre pleine.`,
    plain: (pixels, width) =>
      `Un filtre est une liste de ${pixels} poids que l’apprentissage a trouvés. Multipliez chaque pixel par son poids, additionnez les produits et un nombre appris de plus, le biais\u202f: cette somme est un nombre du jeton du patch. ${width} filtres donnent ${width} nombres, et ce sont eux qui représentent désormais le patch.`,
    stem: (convolutions, side, width) =>
      `Ce modèle fait d’abord passer toute l’image par ${convolutions} convolutions\u202f: chacune produit de nouvelles cartes, où chaque valeur est calculée à partir de 3 × 3 emplacements des cartes précédentes. Ainsi, les ${width} nombres du patch, son jeton, connaissent jusqu’à ${side} pixels, et pas seulement ceux de son propre carré.`,
    taskPlain:
      "Choisissez un patch dans l’image, puis un filtre. Additionnez les produits un à un, et regardez la barre du filtre.",
    taskStem: "Choisissez un patch dans l’image, et franchissez les convolutions une à une.",
    noticePlain:
      "Un patch de papier vide n’a que des produits égaux à 0\u202f: chacune de ses barres est donc le biais du filtre. Tous les patchs vides commencent comme le même jeton\u202f: leurs positions viennent ensuite.",
    noticeStem:
      "Chaque convolution élargit la vue, et une convolution de pas 2 double la croissance de toutes celles qui suivent. Au-delà de l’image il n’y a que du remplissage\u202f: des zéros.",
    citePlain:
      "L’article l’appelle la projection linéaire des patchs aplatis\u202f: Dosovitskiy et al., section 3.1, arXiv:2010.11929.",
    citeStem: "Des convolutions avant les patchs\u202f: Xiao et al., arXiv:2106.14881.",
    chooser: "choix de patch",
    grid: "L’image en patchs",
    gridKeys: "Les flèches choisissent le patch, pour toute la page.",
    lift: "Détacher la grille de l’image",
    liftAgain: "Détacher encore",
    patch: (row, column, ink) => `Patch ligne ${row}, colonne ${column}\u202f: ${ink} d’encre.`,
    numbers: "Les nombres du patch choisi",
    unrolled: (row, column, pixels) =>
      `Le patch ligne ${row}, colonne ${column}, déroulé en ${pixels} nombres`,
    place: (row, column) => `${row}\u202f;\u202f${column}`,
    rows: { pixel: "pixel", weight: "× poids", product: "= produit" },
    filters: "Filtres et jeton",
    filterLegend: (count) =>
      `Les ${count} filtres, et au-dessus de chacun le nombre qu’il tire de ce patch. Ensemble, les ${count} nombres sont le jeton.`,
    filterBar: (filter, value) => `Filtre ${filter}\u202f: ${value}`,
    filtersKey: (top) =>
      `Les barres s’arrêtent à ±${top}. Rouge\u202f: au-dessus de 0. Bleu\u202f: en dessous de 0. De même pour les poids.`,
    filtersMissing: (why) =>
      `Les filtres n’ont pas été chargés\u202f: ${why}. Choisissez un patch pour réessayer.`,
    filtersLoading: "Chargement des filtres…",
    added: (filter) => `Filtre ${filter}\u202f: additionnez les produits un à un`,
    addAll: "Tout additionner",
    addedOf: (added, all) => `${added} produits sur ${all}`,
    sum: ({ added, all, sum, bias, value }) =>
      `${added === all ? `Les ${all} produits\u202f: ${sum}.` : `${added} produits sur ${all}\u202f: ${sum}.`} Plus le biais, ${bias}\u202f: ${value}.`,
    model: (value) => `Le nombre du modèle lui-même\u202f: ${value}.`,
    passed: "Convolutions franchies",
    grow: "Élargir la vue",
    fieldFigure: "Ce que voit le patch",
    field: ({ passed, rows, columns, inside, all }) =>
      `${passed === 0 ? "Le carré seul" : passed === 1 ? "Après 1 convolution" : `Après ${passed} convolutions`}\u202f: ${rows} × ${columns} pixels. ${inside} d’entre eux sont dans l’image, qui en a ${all} en tout.`,
    token: (width) => `Le jeton du patch\u202f: ${width} nombres`,
    classTitle: "Et un jeton sans pixels",
    classToken: (width) =>
      `Le jeton de classe arrive vide\u202f: aucun carré ne lui appartient, donc aucun filtre ne le produit. Ses ${width} nombres sont appris, et les mêmes pour chaque dessin. Dans les blocs, il recueille ce que les patchs ont à dire, et à la fin c’est en lui que se lit la réponse.`,
    classBars: (width, top) => `Les ${width} nombres du jeton de classe\u202f; les barres s’arrêtent à ±${top}`,
  },
  positions: {
    lead: "L’attention compare chaque jeton à tous les autres et les mélange d’après leur contenu. L’endroit où se trouvait un patch n’entre pas dans ce calcul\u202f: pour l’attention, une image est un sac de patchs. Il faut donc dire à un Vision Transformer où va chaque patch, par sa position.",
    models:
      "Voici cinq petits modèles. Ils ont la même forme (32 nombres par jeton, 3 blocs, 4 têtes) et ont appris les mêmes chiffres de la même façon. Seules leurs positions diffèrent. Celui que vous choisissez lit votre dessin, tout de suite.",
    kind: "Positions",
    kinds: {
      none: "aucune",
      sincos1d: "sin-cos 1D",
      sincos2d: "sin-cos 2D",
      learned: "apprises",
      relative: "relatives",
    },
    notes: {
      none: "Aucune\u202f: ce modèle n’apprend jamais où était un patch. Il sait seulement quels patchs il y a.",
      sincos1d:
        "Sin-cos 1D\u202f: les jetons sont numérotés dans l’ordre de lecture, de 0 pour le jeton de classe à 49. Le numéro devient 32 autres nombres, lus tour à tour sur des ondes sinus et cosinus, d’une onde rapide à une onde très lente. Rien ici n’est appris.",
      sincos2d:
        "Sin-cos 2D\u202f: la moitié des 32 nombres sont des ondes de la colonne du patch, l’autre moitié des ondes de sa ligne. Le jeton de classe, qui n’est nulle part, reçoit des zéros. Rien ici n’est appris.",
      learned:
        "Apprises\u202f: un tableau de 50 × 32 nombres, une ligne par jeton. Ce furent d’abord de petits nombres aléatoires, puis ils ont été entraînés comme tous les autres poids. Personne n’a dit au modèle qu’il y a des lignes et des colonnes.",
      relative:
        "Relatives\u202f: rien n’est ajouté aux jetons. Chaque tête a appris un nombre pour chaque décalage, par exemple «\u202fdeux à droite, un vers le haut\u202f», et l’ajoute au score de deux patchs placés ainsi.",
    },
    papers: {
      none: [["Sans positions, les jetons forment un ensemble\u202f: Dosovitskiy et al. (2020), annexe D.4", "2010.11929"]],
      sincos1d: [["Vaswani et al. (2017), section 3.5", "1706.03762"]],
      sincos2d: [
        ["Sous cette forme\u202f: MoCo v3, Chen, Xie & He (2021)", "2104.02057"],
        ["1D et 2D comparées\u202f: Dosovitskiy et al. (2020), annexe D.4", "2010.11929"],
      ],
      learned: [["Dosovitskiy et al. (2020), section 3.1 et annexe D.4", "2010.11929"]],
      relative: [
        ["Shaw et al. (2018), qui apprennent un vecteur par décalage", "1803.02155"],
        ["un nombre par tête, comme ici\u202f: Liu et al. (2021), Swin", "2103.14030"],
      ],
    },

    scrambleTitle: "Mélanger",
    scrambleLead:
      "Découpez votre dessin en ses 49 patchs et posez-les dans un autre ordre. Vous ne pouvez plus le lire. Et le modèle\u202f?",
    scrambleTask:
      "Appuyez sur «\u202fMélanger\u202f», ou faites glisser un patch sur un autre pour les échanger. Désactivez ensuite les positions. Vous pouvez aussi continuer à dessiner pendant que les patchs sont en désordre.",
    scrambleNotice:
      "Sans positions, les dix scores ne changent pas\u202f: les mêmes nombres sont additionnés dans un autre ordre, donc seuls leurs arrondis diffèrent. Avec des positions, la réponse s’effondre, parce que chaque patch prétend maintenant être ailleurs.",
    scramble: "Mélanger",
    back: "Remettre en place",
    positions: "Positions",
    before: "Avant",
    after: "Après",
    beforeLabel: "Votre dessin, découpé en patchs",
    afterLabel: "Les patchs tels que le modèle les reçoit",
    boardKeys:
      "Les flèches vont de patch en patch. Entrée prend un patch, Entrée sur un autre échange les deux. Échap le lâche.",
    held: (place) => `Patch pris\u202f: ${place}. Choisissez-en un autre pour les échanger.`,
    dropped: "Lâché",
    from: (place, patch) => `${place}\u202f: le patch venu de la ${patch}`,
    swapped: (a, b) => `Échangés\u202f: ${a} et ${b}.`,
    scrambled: "Tous les patchs sont mélangés.",
    inPlace: "Tous les patchs sont de retour à leur place.",
    switchedOn: "Positions activées.",
    switchedOff: "Positions désactivées.",
    reads: (label, share) => `Lit ${label}, ${share}`,
    largest: "Plus grand changement d’un score",
    notYet: "Chaque patch est là où vous l’avez dessiné.",
    onlyRounding: "C’est un effet d’arrondi, et rien d’autre\u202f: pour ce modèle, les deux images sont les mêmes.",
    changed: (before, after) =>
      before === after
        ? `D’autres scores, mais la réponse est encore ${after}.`
        : `Il lisait ${before}. Maintenant il lit ${after}.`,
    scores: "Les dix scores (logits), avant et après",
    digit: "Chiffre",
    accuracy: (digits) => `Réponses justes pour ${digits} chiffres de test, tels quels et mélangés`,
    digitsOn: (digits, before, after) =>
      `Sur ${digits} chiffres de test, chacun mélangé à sa façon, ce modèle lit bien ${before} avant et ${after} après.`,
    digitsOff: (digits, before, off) =>
      `Sur ${digits} chiffres de test, ce modèle lit bien ${before}. Une fois ses positions retirées, il en lit bien ${off}, en ordre ou mélangés\u202f: il a appris à compter sur elles.`,
    digitsNone: (digits, before) =>
      `Sur ${digits} chiffres de test, ce modèle lit bien ${before} avant et ${before} après. L’encre, ses pentes et ses courbes lui en disent assez pour cela\u202f; savoir laquelle était où lui dirait le reste.`,

    addedTitle: "Une position s’ajoute à chaque jeton",
    addedTitleNone: "Rien ne s’ajoute aux jetons",
    addedTitleRelative: "Un nombre s’ajoute à chaque score",
    addedLead:
      "Un jeton, ce sont 32 nombres qui disent ce qu’il y a dans son patch. Une position, ce sont aussi 32 nombres. Le modèle les additionne, nombre par nombre, et dès lors chaque jeton dit aussi où il est.",
    addedNone:
      "Ce modèle n’ajoute rien\u202f: chaque jeton entre dans le premier bloc tel qu’il est sorti de son patch. Choisissez une autre sorte de positions ci-dessus.",
    addedRelative:
      "Ce modèle n’ajoute rien aux jetons. Ses positions sont dans les scores\u202f: avant le softmax, chaque tête ajoute au score de deux patchs un nombre qui ne dépend que de la distance entre eux, et de sa direction.",
    addedTask:
      "Déplacez le curseur du jeton seul au jeton + position. Cliquez sur une ligne de l’image pour choisir son patch.",
    biasTask: "Cliquez sur l’image d’une tête pour la voir de plus près\u202f: les figures suivantes montrent alors cette tête.",
    addedNotice: {
      none: "",
      sincos1d:
        "Les colonnes de gauche ondulent à chaque pas. Celles de droite ne bougent presque pas du premier patch au dernier.",
      sincos2d:
        "À gauche, les ondes parcourent chaque rangée de sept patchs\u202f; à droite, elles ne changent que d’une rangée à l’autre, par paliers.",
      learned:
        "Personne n’y a mis d’onde. Cherchez des bandes de sept jetons de haut\u202f: des patchs d’une même rangée, qui ont fini par se ressembler.",
      relative:
        "Vu du patch du milieu, le rouge augmente le score du patch qui se trouve là, le bleu le diminue. Beaucoup de têtes ont un côté à elles\u202f: un vers le haut, par exemple, ou deux à gauche. Dans la dernière couche, tout est pâle\u202f: à partir d’elle, seul le jeton de classe est lu, donc ce que les patchs se disent n’a aucun effet, et ces nombres n’ont jamais rien appris.",
    },
    matrix: "Toutes les positions, un jeton par ligne",
    matrixCaption: "Toutes les positions\u202f: 50 jetons de haut en bas, 32 nombres de gauche à droite",
    number: (n) => `nombre ${n}`,
    fade: "Du jeton au jeton + position",
    faded: (percent) => `${percent}\u202f% de la position`,
    sumOf: (patch) => `Le jeton du patch ${patch}`,
    numberHead: "N°",
    token: "Jeton",
    plusPosition: "+ position",
    equals: "= somme",
    biasLabel: (layer, head) => `Couche ${layer}, tête ${head}\u202f: biais pour chaque décalage`,
    biasCaption: (layer, head) => `Couche ${layer}, tête ${head}`,
    down: (rows) =>
      rows === 0 ? "même ligne" : rows < 0 ? `${-rows} vers le haut` : `${rows} vers le bas`,
    right: (columns) =>
      columns === 0 ? "même colonne" : columns < 0 ? `${-columns} à gauche` : `${columns} à droite`,

    alikeTitle: "Quels endroits se ressemblent\u202f?",
    alikeLead:
      "Le cosinus de deux positions dit à quel point elles se ressemblent\u202f: 1 si elles pointent dans la même direction, 0 si elles n’ont rien en commun, −1 si elles sont opposées. L’attention compare les jetons par de tels produits, donc des positions semblables se trouvent facilement.",
    alikeNone: "Sans positions, il n’y a rien à comparer\u202f: tous les endroits sont le même endroit.",
    alikeTask: "Choisissez un patch, ici ou dans l’image ci-dessous.",
    alikeNotice: {
      none: "",
      sincos1d:
        "La ressemblance suit l’ordre de lecture. Le patch juste au-dessus est à sept pas, et n’est pas plus proche que n’importe quel autre à sept pas, alors qu’il touche le patch choisi.",
      sincos2d:
        "La ressemblance diminue également des quatre côtés\u202f: le patch du dessus ressemble exactement autant que celui de droite. Dans la grande image, cela fait des bandes, espacées de sept jetons.",
      learned: (right, down) =>
        `Personne n’a dit à ce modèle qu’il y a une grille. Pourtant, deux patchs côte à côte ont un cosinus de ${decimal(right, 2)} en moyenne, et deux patchs l’un au-dessus de l’autre ${decimal(down, 2)}\u202f; la plupart des autres paires sont proches de 0 ou en dessous.`,
      relative:
        "Passez d’un patch à l’autre\u202f: le motif se déplace avec vous sans changer, parce que seul le décalage compte.",
    },
    placeLabel: "La ressemblance du patch choisi avec tous les patchs",
    placeCaption: (patch) => `Vu du patch ${patch}`,
    allLabel: "La ressemblance de chaque jeton avec chaque jeton",
    allCaption: "Chaque jeton face à chaque jeton\u202f: 50 × 50",
    biasTitle: "Quels endroits se trouvent\u202f?",
    biasLead: (layer, head) =>
      `Il n’y a pas de position à comparer. Voici les nombres que la tête ${head} de la couche ${layer} ajoute à ses scores\u202f: ligne par ligne le jeton qui regarde, colonne par colonne le jeton qu’il regarde.`,

    wideTitle: "Une image qui n’est pas carrée",
    wideLead:
      "La grille n’a pas besoin d’être un carré. Voici votre dessin étiré sur 60 × 100 pixels, en patchs de 20\u202f: 3 lignes de 5. Un minuscule modèle non entraîné en fait 16 jetons de 16 nombres, le jeton de classe en premier.",
    wideTask:
      "Choisissez le patch 6, le premier de la deuxième ligne. Quels patchs chaque numérotation prend-elle pour ses voisins\u202f?",
    wideNotice:
      "Avec des numéros à la suite, le patch 5, en fin de ligne, est voisin du patch 6, au début de la ligne suivante, et le patch du dessus est à cinq pas. Une position par ligne et colonne ne connaît pas d’ordre de lecture\u202f: à droite et en bas comptent autant.",
    wideImage: {
      sincos1d: "Le dessin étiré, ses patchs numérotés de 1 à 15 dans l’ordre de lecture",
      sincos2d: "Le dessin étiré, ses patchs désignés par ligne et colonne",
    },
    wideLikeness: {
      sincos1d: "1D\u202f: ressemblance avec le patch choisi, 3 × 5",
      sincos2d: "2D\u202f: ressemblance avec le patch choisi, 3 × 5",
    },
    widePositions: {
      sincos1d: "1D\u202f: 16 positions de 16 nombres",
      sincos2d: "2D\u202f: 16 positions de 16 nombres",
    },
    wideLikenessCaption: "Ressemblance avec le patch choisi",
    widePositionsCaption: "Positions\u202f: 16 jetons de haut en bas, 16 nombres de gauche à droite",
    wideTokens: "16 jetons de 16 nombres, avant les positions",
    wideTokensCaption: "Les jetons avant leurs positions",
    nth: (token) => (token === 0 ? "jeton de classe" : `patch ${token}`),
  },
  score: {
    leads: [
      "Dans l’attention, chaque jeton demande aux autres ce qu’il lui faut. Pour cela, une tête calcule à partir de chaque jeton trois courtes listes de nombres\u202f: une requête q (ce qu’il demande), une clé k (ce qui permet de le trouver) et une valeur v (ce qu’il donne).",
      "Chaque nombre de q est multiplié par le nombre correspondant d’une clé. La somme, divisée par √d, est le score\u202f: élevé là où les deux pointent dans la même direction. Le softmax change les scores d’une requête en parts dont la somme est 1, et la sortie de la tête est la somme de toutes les valeurs, chacune multipliée par sa part.",
    ],
    task: "Cliquez sur un patch de la grille\u202f: sa requête est prête. Pointez-en un autre (au doigt\u202f: touchez une colonne sous la grille), et sa clé se glisse dessous. Tirez ensuite un nombre de q vers le haut ou vers le bas (au doigt\u202f: sur le côté\u202f; au clavier\u202f: les flèches).",
    notice:
      "Les parts forment un tout\u202f: quand l’une grandit, toutes les autres rétrécissent. Un score plus grand de 1 a une part 2,7 fois plus grande, quels que soient les autres scores.",
    cite: "L’attention par produit scalaire normalisé (scaled dot-product attention)\u202f: Vaswani et al., section 3.2.1, arXiv:1706.03762.",
    whose: "La requête de qui\u202f?",
    patchQuery: "du patch choisi",
    classQuery: "du jeton de classe",
    map: "Les parts de cette requête, sur votre dessin",
    classKey: "Pointer le jeton de classe",
    play: "Jouer toutes les étapes",
    pause: "Pause",
    next: "Étape suivante",
    reset: "Remettre les nombres",
    qName: (n) => `q, nombre ${n}`,
    kName: (n) => `k, nombre ${n}`,
    vName: (n) => `v, nombre ${n}`,
    pair: (query, key) => `Requête (${query}), clé (${key})`,
    value: (key, share) =>
      `Valeur (${key}), prise à ${share}, et la sortie de la tête\u202f: la somme sur tous les jetons`,
    sum: (sum, root, score) => `Somme ${sum}, divisée par ${root}\u202f: score ${score}`,
    sumBias: (sum, root, bias, score) =>
      `Somme ${sum}, divisée par ${root}, plus ${bias} pour le décalage entre les deux endroits\u202f: score ${score}`,
    steps: {
      query: (d) => `La requête\u202f: ${d} nombres.`,
      key: () => "La clé de l’autre jeton se glisse dessous.",
      products: () => "Nombre par nombre, les deux sont multipliées.",
      score: () => "La somme, divisée par √d, est le score de cette seule paire.",
      scores: (_, tokens) => `La même requête avec toutes les clés, ${tokens} en tout\u202f: ${tokens} scores.`,
      softmax: () => "Softmax\u202f: e à la puissance de chaque score, divisé par la somme de toutes ces puissances.",
      values: () => "La valeur de chaque jeton est multipliée par sa part.",
      output: (d) => `Additionnées, elles sont la sortie de la tête pour ce jeton\u202f: ${d} nombres.`,
    },
    stepOf: (n, all, text) => `Étape ${n} sur ${all}. ${text}`,
    strip: "Tous les jetons\u202f: score, part, et valeur multipliée par la part",
    stripLegend: (share, top) =>
      `Une colonne par jeton\u202f; ▾ marque celui de la requête. Barres des parts\u202f: jusqu’à ${share}\u202f; en tirets\u202f: toutes égales. Nombres\u202f: bleu jusqu’à −${top}, rouge jusqu’à ${top}.`,
    scores: "scores",
    shares: "parts",
    values: "valeurs",
    timesShare: "× part",
    outputShort: "somme",
    of: ({ token, score, share }) => `${token}\u202f: score ${score}, part ${share}`,
    table: "Tous les scores et parts en tableau",
    tableHead: ["Jeton", "Score", "Part"],
    changed: (moved, length) =>
      `Vous avez changé des nombres. La sortie de la tête (longueur ${length}) s’est déplacée de ${moved}. La carte, les parts, la sortie et la réponse ci-dessous sont celles de vos nombres\u202f; le reste du modèle n’a pas changé.`,
    followed: "La réponse avec vos nombres",
    ownAnswer: (label, p) => `Avec ses propres nombres, le modèle dit ${label}, ${p}.`,
    sameAnswer: (label, before, after) =>
      `Avec vos nombres dans cette tête, le modèle dit encore ${label}\u202f: ${after} au lieu de ${before}. En pointillés\u202f: sa propre réponse.`,
    otherAnswer: (old, before, now, p) =>
      `Avec vos nombres dans cette tête, le modèle dit ${now}, ${p}. Avec les siens, il disait ${old}, ${before} (en pointillés).`,
    unchanged: "Ce sont les nombres du modèle lui-même.",
    undone: "Les nombres du modèle sont de retour.",
    headsTitle: "Toutes les têtes, côte à côte",
    headsLead: (heads, d) =>
      `Le bloc a ${heads} têtes, et chacune fait ce calcul avec ses propres q, k et v, donc chacune peut regarder ailleurs. Pour un jeton, chaque tête donne ${d} nombres. Choisissez une tête pour l’ouvrir ci-dessus.`,
    head: (n) => `Tête ${n}`,
    headName: ({ n, token, share }) => `Tête ${n}. Maximum\u202f: ${token}, ${share}`,
    concatenated: "Les sorties des têtes, mises bout à bout",
    number: (n) => `nombre ${n}`,
    projected: "Ce que l’attention ajoute à ce jeton",
    projection: (sizes) =>
      `${sizes.heads} × ${sizes.d} = ${sizes.inner} nombres, une tête par ligne, sont multipliés par une matrice apprise de ${sizes.inner} × ${sizes.width}, la projection, qui mélange les têtes. Ses ${sizes.width} nombres sont ajoutés au jeton.`,
    noProjection: (sizes) =>
      `Ce modèle n’a pas de projection\u202f: ses ${sizes.heads} × ${sizes.d} = ${sizes.inner} nombres, une tête par ligne, sont ajoutés au jeton tels quels.`,
    projectionOwn: "Elle est montrée pour les nombres du modèle lui-même.",
    layerScale: "Un facteur appris pour chaque nombre (layer scale) est compris.",
    ofPrefix: (name, share) => `${name} ${share}`,
    perHead:
      "Dans ce modèle, une tête calcule q, k et v à partir de sa seule partie du jeton, et non du jeton entier.",
    stem: "Ce modèle a des convolutions avant ses patchs, donc un jeton a vu plus que son propre carré.",
    qkNorm: "q et k sont montrés tels qu’ils sont multipliés\u202f: après la normalisation que ce modèle applique aux deux.",
    relative:
      "Ce modèle a des positions relatives\u202f: chaque score reçoit un biais appris pour le chemin d’un patch à l’autre.",
  },
  layers: {
    lead: "Chaque jeton est une liste de nombres, et tous traversent le modèle côte à côte\u202f: c’est le flux résiduel. Un bloc ne remplace jamais un jeton. Son attention lui ajoute quelque chose, puis son MLP (deux petites couches de neurones, les mêmes pour chaque jeton) ajoute quelque chose encore. La tête de classification du modèle, faite pour le dernier arrêt, peut donc lire le flux à chaque arrêt en chemin. C’est la «\u202flogit lens\u202f», la lentille à logits.",
    meanLead: "Ce modèle n’a pas de jeton de classe\u202f: sa tête de classification lit la moyenne des patchs.",
    task: "Appuyez sur une tête, un MLP ou une paire de normalisations pour la retirer, ou sur plusieurs. Dessinez ensuite un autre chiffre.",
    notice:
      "À l’étape 0, les barres sont les mêmes pour chaque dessin, car le jeton de classe n’a encore vu aucun patch. Puis la réponse se forme\u202f: regardez à quel arrêt, et si c’est l’attention ou un MLP qui l’a déplacée.",
    meanNotice: "Regardez à quel arrêt la réponse se forme, et si c’est l’attention ou un MLP qui l’a déplacée.",
    stem: (field) =>
      `Dans ce modèle, des convolutions passent avant les patchs\u202f: à l’étape 0, un patch connaît donc déjà ${field} pixels.`,
    caveat:
      "Une lentille peut tromper\u202f: les premiers arrêts n’ont jamais été faits pour être lus par cette tête (Belrose et al.). Et une partie dont l’absence ne change rien n’est pas forcément inactive\u202f: d’autres peuvent faire le même travail (Michel et al.).",
    cite: {
      residual: "He et al.\u202f: les connexions résiduelles",
      lens: "nostalgebraist\u202f: la logit lens",
      tuned: "Belrose et al.\u202f: la tuned lens",
      heads: "Michel et al.\u202f: seize têtes valent-elles mieux qu’une\u202f?",
    },
    figure: "Ce que lit la tête de classification à chaque arrêt",
    stage: (stage, depth) =>
      stage === 0
        ? "Étape 0, avant le bloc 1"
        : `Étape ${stage}, après le bloc ${stage}${stage === depth ? "\u202f: la réponse" : ""}`,
    half: (block) => `Dans le bloc ${block}, après son attention`,
    says: (label, share) => `dit ${label}, ${share}`,
    lensLabel: (stop, bars) => `${stop}\u202f: ${bars}`,
    classToken: "jeton de classe",
    mean: "moyenne des patchs",
    patch: "patch choisi",
    length: (reader, own, patch) => `Longueur du flux\u202f: ${reader} ${own}, patch choisi ${patch}`,
    block: (block) => `Bloc ${block}`,
    attention: "Attention",
    mlp: "MLP",
    norms: "Normalisations",
    heads: "Têtes",
    head: (head) => `tête ${head}`,
    leaveOut: {
      head: (block, head) => `la tête ${head} du bloc ${block}`,
      mlp: (block) => `le MLP du bloc ${block}`,
      norms: (block) => `les normalisations du bloc ${block}`,
    },
    toggle: (part) => `Retirer ${part}`,
    adds: "ajout\u202f:",
    added: (ratio) => `${ratio} ×`,
    addedHint:
      "La barre compare la longueur de ce qui est ajouté à celle du jeton lui-même à l’entrée du bloc. À moitié pleine\u202f: aussi long.",
    pushes: (changes) => `déplace ${changes} points`,
    change: (label, points) => `${label} de ${points}`,
    still: "ne déplace aucune classe d’un dixième de point",
    answer: "La réponse",
    whole: (label, share) => `Rien n’est retiré. Le modèle lit ${label}, ${share}.`,
    same: (parts, label, before, after) =>
      `Sans ${parts}, il lit encore ${label}\u202f: ${before} avant, ${after} maintenant.`,
    other: (parts, label, old, before, after) =>
      `Sans ${parts}, il lit ${label} au lieu de ${old}. ${old}\u202f: ${before} avant, ${after} maintenant.`,
    parts: (names) => new Intl.ListFormat("fr").format(names),
    back: "Tout remettre",
    legend: "Contour\u202f: avec toutes les parties. Plein\u202f: maintenant.",
    sweep: "Retirer chacune tour à tour",
    sweepLead: (label) => `Ce que ${label}, la réponse, gagne ou perd quand une seule partie manque.`,
    measure: "Mesuré en",
    measures: { points: "points de probabilité", odds: "log-cote (log-odds)" },
    oddsHint:
      "Près de 100\u202f%, la probabilité p ne peut presque plus bouger. Sa log-cote, ln(p / (1 − p)), montre encore la poussée\u202f: 1 de moins signifie que la cote est divisée par 2,7.",
    progress: (done, of) => `${done} calculs sur ${of}`,
    becomes: (label) => `→ ${label}`,
    worst: (part, points, odds) =>
      `La plus grande perte vient sans ${part}\u202f: ${points} points, ${odds} en log-cote.`,
    none: "Aucune partie à elle seule n’enlève quoi que ce soit à la réponse.",
  },
  strokes: {
    example: "Une photo n’a pas de traits\u202f: voici donc l’exemple de la page.",
    lead: "Votre dessin, relu encore et encore pendant qu’il grandissait\u202f: chaque coupe verticale de la bande montre comment le modèle répartissait 100\u202f% entre les classes à ce moment-là. Le temps suit le chemin du stylo, donc un stylo lent ne prend pas plus de place qu’un rapide.",
    task: "Faites glisser sur la bande, ou déplacez le curseur en dessous. La petite image montre le dessin tel qu’il était alors, avec la réponse qu’il recevait.",
    notice:
      "Une moitié de chiffre peut être mal lue, et pour une bonne raison\u202f: la première moitié d’un 9 est un 0 parfait. Le modèle n’a appris que de chiffres entiers, et chaque dessin inachevé est centré et agrandi comme un dessin entier, si bien que même le premier point remplit son image.",
    noticePale:
      "Une moitié de chiffre peut être mal lue, et pour une bonne raison\u202f: la première moitié d’un 9 est un 0 parfait. Tant que le stylo est posé, la page montre donc au modèle votre dessin à l’encre pâle, et le modèle a appris, de dessins inachevés à cette encre, ce que cela veut dire\u202f: la suite peut venir. Il doute jusqu’à ce que le stylo se lève.",
    strip: "Les probabilités pendant que vous dessiniez",
    time: "Part de l’encre déjà dessinée",
    replay: "Revoir",
    put: "Mettre ce moment sur la feuille",
    undo: "«\u202fAnnuler\u202f» ramène ensuite le dessin entier.",
    start: "premier point",
    end: "dessin entier",
    stroke: (n) => `trait ${n}`,
    sure: "La ligne sous la bande\u202f: là où le modèle est sûr de sa réponse.",
    reading: (done, all) => `${done} moments lus sur ${all}`,
    read: (all) => `${all} moments lus`,
    moment: (share, label, p) => `${share} de l’encre\u202f: ${label}, ${p}`,
    blank: (share) => `${share} de l’encre\u202f: encore rien à lire`,
    /** The answers in turn, the first left out where there are many. */
    changes: (runs, all) => {
      const [last, ...before] = [...runs].reverse();
      if (!last) return "";
      if (all === 1) return `Il a dit ${last.label} du premier point à la fin.`;
      const earlier = before
        .reverse()
        .map(({ label, share }, i) =>
          i === 0 ? `À ${share} de l’encre, il disait ${label}` : `puis ${label} à ${share}`,
        );
      const many = all > runs.length ? `La réponse a changé ${all - 1} fois. ` : "";
      return `${many}${earlier.join(", ")}, puis ${last.label} à partir de ${last.share}.`;
    },
    first: (label, share) => ` Il avait dit ${label} pour la première fois à ${share}.`,
  },
  doubt: {
    lead: "La tête de classification donne à chaque classe un nombre, son logit. Le softmax en fait des probabilités\u202f: élevez e à la puissance de chacun, puis divisez par la somme. Seules comptent donc les différences entre logits. Auparavant, tous sont divisés par la température T\u202f: en dessous de 1, elle rend la réponse plus sûre\u202f; au-dessus de 1, moins sûre.",
    task: "Tirez une colonne, ou déplacez-la avec les flèches. Changez ensuite la température.",
    notice:
      "Aucune température ne change la classe qui vient en premier. Elle change seulement l’assurance de la réponse.",
    cite: "Guo et al., «\u202fOn Calibration of Modern Neural Networks\u202f», arXiv:1706.04599.",
    ofDrawing: "Ce sont les logits de votre dessin.",
    ofDigit: (d) =>
      d.truth === d.label
        ? `Image de test ${d.number} de MNIST\u202f: étiquetée ${d.truth}, et le modèle lit ${d.label}, ${d.share}.`
        : `Image de test ${d.number} de MNIST\u202f: étiquetée ${d.truth}, mais le modèle lit ${d.label}, ${d.share}. ${d.truth} reçoit ${d.truthShare}.`,
    changed: "Vous les avez changés.",
    reset: "Revenir aux logits du modèle",
    toDrawing: "Revenir à mon dessin",
    table: "Le softmax, pas à pas",
    columns: { class: "classe", sum: "somme" },
    rows: {
      slider: "tirer",
      logit: "logit z",
      scaled: "z ÷ T",
      power: "e puissance z ÷ T − maximum",
      share: "probabilité",
    },
    slider: (label) => `Logit de la classe ${label}`,
    value: (logit, share) => `${logit}\u202f; probabilité ${share}`,
    moved: (label, share, best, bestShare) =>
      label === best
        ? `${label} a maintenant ${share}.`
        : `${label} a maintenant ${share}. Le premier est ${best}, ${bestShare}.`,
    largest:
      "Le plus grand est d’abord soustrait. Le résultat reste le même, et aucune puissance ne devient trop grande pour un ordinateur.",
    temperature: "Température T",
    temperatureIs: (t, own) => `T = ${t}${own ? ", celle du modèle" : ""}`,
    ownTemperature: (t) => `Celle du modèle\u202f: ${t}`,
    sum: (label, power, sum, share) =>
      `La somme des puissances est ${sum}. ${label} en a ${power}\u202f: ${share}.`,

    reliability: "Est-il aussi sûr qu’il a raison\u202f?",
    reliabilityLead: (images, model) =>
      `${images} chiffres de test de MNIST, dont le modèle «\u202f${model}\u202f» n’a rien appris, répartis en 15 tranches selon l’assurance de la réponse. Un point est une tranche\u202f: vers la droite, l’assurance\u202f; vers le haut, la part de réponses justes\u202f; la ligne qui le traverse, là où la vraie part se trouve probablement (intervalle de Wilson, 95\u202f%). Sur la diagonale, sûr à 80\u202f% signifie juste 8 fois sur 10.`,
    other: (model) => `La page utilise maintenant un autre modèle. Ces chiffres sont ceux de «\u202f${model}\u202f».`,
    diagram: "Diagramme de fiabilité",
    sure: "assurance",
    right: "part de réponses justes",
    counts: "chiffres par tranche (logarithmique)",
    youAreHere: "vous êtes ici",
    here: (d) =>
      `Vous êtes ici\u202f: ${d.share}. Parmi les chiffres de test, ${d.count} ont reçu une réponse sûre de ${d.from} à ${d.to}. ${d.right} d’entre elles étaient justes, soit ${d.rightShare}.`,
    hereEmpty: (share, from, to) =>
      `Vous êtes ici\u202f: ${share}. À cette température, aucun chiffre de test n’a reçu de réponse sûre de ${from} à ${to}.`,
    gaps: (now, t, before, own, ownT) =>
      `L’écart moyen entre assurance et justesse (expected calibration error) est de ${now} points à T = ${t}. Sans température, T = 1, il est de ${before}\u202f; à celle du modèle, ${ownT}, il est de ${own}.`,
    atOne: (sure, right, modest) =>
      `À T = 1, les réponses sont sûres à ${sure} en moyenne, et ${right} sont justes\u202f: le modèle est trop ${modest ? "modeste" : "sûr de lui"}. Sa propre température a été choisie sur d’autres images, pour que les deux concordent.`,
    points: (bins) => `Tranches non vides\u202f: ${bins}`,
    point: (sure, right, count) => `sûr à ${sure}, juste à ${right}, ${count} chiffres`,

    worst: "Ses vingt pires",
    worstLead: (model) =>
      `C’est sur ces chiffres de test que «\u202f${model}\u202f» a sa plus grande perte\u202f: −ln de la probabilité qu’il donne à la bonne classe. Certains sont difficiles pour les humains aussi, et certaines étiquettes sont discutables. Choisissez-en un\u202f: les colonnes et «\u202fvous êtes ici\u202f» suivent.`,
    digit: (number, truth) => `Image de test ${number}, étiquetée ${truth}`,
    without:
      "Ils ne sont pas dans cette version, parce que les images de MNIST ne font pas partie du dépôt. Pour les avoir, mettez les quatre fichiers de MNIST dans un dossier, indiquez-le dans $VITRINE_DATA et lancez\u202f: npm run build",
    notLoaded: "Les chiffres n’ont pas été chargés\u202f; rechargez la page pour réessayer.",
  },
  masks: {
    leads: [
      "Tout Transformer calcule l’attention comme ci-dessus. Ce qui diffère, ce sont les scores qui comptent. Un encodeur, comme ce ViT, lit tous ses jetons à la fois\u202f: chacun peut regarder chacun. Un décodeur écrit un jeton après l’autre, donc aucun ne doit regarder ce qui n’est pas encore écrit\u202f: avant le softmax, un masque causal met ces scores à −∞, et leurs parts sont 0.",
      "Dans l’attention croisée, les requêtes viennent du décodeur, les clés et les valeurs de l’encodeur\u202f: ce qui s’écrit interroge ce qui a été lu.",
    ],
    task: "Choisissez un masque. Il est appliqué aux scores de votre propre dessin, dans la couche et la tête choisies\u202f; puis vient le softmax. Cliquez sur une ligne pour voir ce que voit son jeton.",
    notice: {
      full: "Complet\u202f: rien n’est hachuré. C’est la matrice que le modèle a vraiment utilisée.",
      causal:
        "Causal\u202f: hachuré au-dessus de la diagonale. Le premier jeton ne voit que lui-même, à 100\u202f%. Ici c’est le jeton de classe, qui n’apprendrait donc rien de votre dessin\u202f: les décodeurs lisent plutôt leur réponse dans le dernier jeton.",
      cross: "Croisé\u202f: pas carré. Il y a autant de lignes que de requêtes et autant de colonnes que de clés. Un décodeur qui écrit une légende aurait une ligne par mot.",
    },
    causalPlain:
      "Causal\u202f: hachuré au-dessus de la diagonale. Le premier jeton ne voit que lui-même, à 100\u202f%\u202f: les décodeurs lisent leur réponse dans le dernier jeton.",
    honest:
      "Ce modèle n’a jamais appris avec un masque, et un ViT n’a pas de décodeur\u202f: seuls les scores de cette unique tête sont masqués ici, et les couches précédentes ont calculé sans masque.",
    crossClass:
      "La requête du jeton de classe tient lieu d’unique requête du décodeur, et les clés sont celles des patchs seuls. Ce n’est pas tiré par les cheveux\u202f: dans les dernières couches de CaiT, seul le jeton de classe demande, et les patchs (et lui-même) répondent.",
    crossPatch:
      "La requête du patch choisi tient lieu d’unique requête du décodeur, parce que ce modèle n’a pas de jeton de classe.",
    chips: "Quels scores comptent\u202f?",
    full: "complet",
    causal: "causal",
    cross: "croisé",
    matrix: "Les parts après le masque et le softmax",
    axes: {
      full: "Lignes\u202f: qui demande. Colonnes\u202f: à qui. Le jeton de classe d’abord, puis les patchs ligne par ligne. Les couleurs s’arrêtent à 25\u202f%.",
      causal:
        "Lignes\u202f: qui demande. Colonnes\u202f: à qui, hachurées là où c’est masqué. Le jeton de classe d’abord, puis les patchs ligne par ligne. Les couleurs s’arrêtent à 25\u202f%.",
      cross: "Une ligne\u202f: la requête. Colonnes\u202f: les patchs, ligne par ligne. Les couleurs s’arrêtent à 25\u202f%.",
    },
    map: "La ligne choisie, sur votre dessin",
    asks: (token) => `requête (${token})`,
    asked: (token) => `clé (${token})`,
    sums: ({ rows, least, most }) =>
      rows === 1
        ? `La somme de la ligne est ${most}.`
        : `La somme de chacune des ${rows} lignes est 1\u202f: la plus petite est ${least}, la plus grande ${most}.`,
    masked: (masked, all) => `${masked} cases sur ${all} sont masquées.`,
    sees: ({ token, seen, all, sum }) =>
      `Cette requête (${token}) voit ${seen} jetons sur ${all}\u202f; la somme de ses parts est ${sum}.`,
    usesTitle: "Qui utilise quoi",
    usesHead: ["", "complet", "causal", "croisé"],
    uses: [
      ["ViT, BERT\u202f: des encodeurs", "dans chaque couche", "–", "–"],
      ["GPT\u202f: un décodeur", "–", "dans chaque couche", "–"],
      [
        "Traducteur (Vaswani et al.)",
        "entre les mots qu’il lit",
        "entre les mots qu’il a écrits",
        "de chaque mot écrit aux mots qu’il lit",
      ],
      [
        "Auteur de légendes avec un ViT",
        "entre les patchs",
        "entre les mots de la légende",
        "de chaque mot de la légende aux patchs",
      ],
      [
        "CaiT\u202f: un ViT",
        "entre les patchs, dans toutes les couches sauf les deux dernières",
        "–",
        "du jeton de classe aux patchs et à lui-même, dans les deux dernières couches",
      ],
    ],
    cite: "Les trois usages de l’attention\u202f: Vaswani et al., section 3.2.3, arXiv:1706.03762.",
    citeCait: "L’attention de classe de CaiT\u202f: Touvron et al., arXiv:2103.17239.",
  },
  teachIt: {
    title: "Lui apprendre un signe",
    signs: "Mes signes",
    first: "Dessinez votre signe sur la feuille.",
    more: (count) => (count === 1 ? "Et encore une fois." : "Dessinez-le encore deux fois, comme vous le feriez demain."),
    enough: "Cela suffit. Comment s’appelle-t-il\u202f?",
    drawings: "Les dessins de ce signe",
    removeDrawing: (index) => `Retirer le dessin ${index}`,
    name: "Comment s’appelle-t-il\u202f?",
    placeholder: "étoile",
    known: "Ou le connaît-il déjà\u202f?",
    itIs: (label) => `C’est ${label}`,
    honest: "Il s’exerce aussi sur ses chiffres et sur des gribouillis, pour rester honnête sur ce qu’il ne connaît pas.",
    cancel: "Annuler",
    next: "Dessin suivant",
    learn: "Apprendre",
    stop: "Arrêter",
    learning: "Il apprend, dans cet onglet…",
    step: ({ step, steps, right, seconds }) => `étape ${step} sur ${steps} · ${right} justes · encore ${seconds} s`,
    taught: (seconds, right, all) => `Appris en ${seconds} s\u202f: il lit ${right} de vos ${all} dessins.`,
    stopped: "Arrêté. Le modèle est comme avant.",
    failed: (why) => `Il n’a pas pu apprendre cela\u202f: ${why}`,
    none: "Pas encore de signe. Trois dessins de chacun suffisent.",
    remove: (label, index) => `Retirer le dessin ${index} de ${label}`,
    changed: "Vos dessins ont changé depuis qu’il a appris.",
    again: "Apprendre à nouveau",
    another: "Un autre signe",
    forget: "Tout oublier",
    undo: "Rétablir",
    download: "Télécharger",
    upload: "Charger…",
    link: "Copier un lien",
    close: "Fermer",
    kept: "Conservés dans ce navigateur jusqu’à ce que vous les oubliiez.",
    notKept: "Ce navigateur ne conserve rien. Téléchargez le modèle pour le retrouver plus tard.",
    uploaded: (file) => `C’est maintenant ${file} qui lit.`,
    refused: (file, why) => `${file} n’a pas été accepté\u202f: ${why}`,
    photos: "il lit des photos et non des dessins\u202f; «\u202fVotre ViT\u202f» le montre",
    linked: "Ces dessins sont venus avec le lien. Appuyez sur «\u202fApprendre à nouveau\u202f», et le modèle les apprend ici.",
    damaged: "Les dessins contenus dans le lien sont abîmés.",
    tooLarge: "Trop de dessins pour un lien\u202f: téléchargez plutôt le modèle. Son fichier les contient.",
  },
  teach: {
    lead: "Six exercices pour un cours de 45 minutes, à partir de 15 ans environ. Chacun n’a besoin que de cette page\u202f: pas de compte, et aucun dessin ne quitte l’onglet. Une fois chargée, la page fonctionne sans réseau.",
    print: "Imprimer cette page",
    look: "Ce qu’il faut observer",
    exercises: [
      {
        chapter: "positions",
        title: "L’ordre compte-t-il\u202f?",
        task: "Dessinez un 7. Dans «\u202fOù suis-je\u202f?\u202f», choisissez «\u202faucune\u202f» et mélangez les patchs. Choisissez ensuite «\u202fsin-cos 2D\u202f» et mélangez à nouveau.",
        look: "Sans positions, aucun score ne change, parce que l’attention additionne sur un ensemble et qu’un ensemble n’a pas d’ordre. Avec des positions, la réponse s’effondre\u202f: les mêmes patchs disent maintenant qu’ils sont ailleurs.",
      },
      {
        chapter: "score",
        title: "Un score à la main",
        task: "Dans «\u202fUn score à la main\u202f», choisissez un patch sur votre encre et un autre à côté. Multipliez sur papier les quatre premiers nombres de q et de k. Laissez ensuite la page les faire tous.",
        look: "Le score est une somme de produits divisée par √d\u202f: grande là où q et k pointent dans la même direction. Le softmax change tous les scores en parts, donc un jeton ne peut regarder davantage un patch qu’en regardant moins les autres.",
      },
      {
        chapter: "masks",
        title: "Qui a le droit de regarder qui\u202f?",
        task: "Dans «\u202fEncodeur, décodeur\u202f», passez de l’attention complète à l’attention causale. Trouvez la ligne du premier patch et celle du dernier.",
        look: "Avec le masque causal, la première ligne ne peut regarder qu’elle-même, et la dernière voit encore tout. Un modèle qui écrit des mots les uns après les autres en a besoin\u202f; un modèle qui lit une image entière, non.",
      },
      {
        chapter: "layers",
        title: "Quand le sait-il\u202f?",
        task: "Dessinez un 4 presque fermé en haut. Dans «\u202fCouche après couche\u202f», lisez ce que le modèle dirait après chaque bloc. Retirez ensuite une tête après l’autre.",
        look: "La réponse se forme souvent dans les derniers blocs, et la plupart des têtes, prises seules, peuvent disparaître sans la changer\u202f: leur travail est partagé (Michel et al., arXiv:1905.10650). Notez de quelle tête votre chiffre ne peut pas se passer.",
      },
      {
        chapter: "strokes",
        title: "La moitié d’un chiffre",
        task: "Dessinez un 9, en commençant par sa boucle. Dans «\u202fPendant que vous dessiniez\u202f», revenez au moment où il n’y avait que la boucle.",
        look: "La boucle seule est un 0, ou le début d’un 6, d’un 8 ou d’un 9. Un bon modèle y répartit sa probabilité. Celui-ci est-il honnête\u202f? Comparez avec ce que vous auriez dit.",
      },
      {
        chapter: "doubt",
        title: "Que veut dire 90\u202f%\u202f?",
        task: "Dessinez quelque chose entre un 4 et un 9. Dans «\u202fSoftmax et doute\u202f», changez la température, puis lisez le diagramme de fiabilité.",
        look: "La température ne change jamais la classe qui vient en premier, seulement l’assurance du modèle. Calibré signifie\u202f: de toutes les réponses à 90\u202f%, environ neuf sur dix sont justes, pour des chiffres comme ceux de la mesure.",
      },
    ],
  },
} satisfies Translation;
