/** The page's words in Spanish. */
import { decimal, type Translation } from "./words.ts";

export const es = {
  language: {
    failed: (wanted, stays) =>
      `${wanted} no se ha cargado, sigue ${stays}; comprueba la conexión y elígelo de nuevo`,
  },
  theme: {
    useLight: "Usar colores claros",
    useDark: "Usar colores oscuros",
  },
  answer: {
    certain: "seguro",
    sure: "bastante seguro",
    unsure: "inseguro",
    unknown: "cifra desconocida",
    unknownSign: "nada conocido",
    next: (p, label, other) => `${p}; luego ${label}, ${other}`,
    nearest: (label, p) => `lo más parecido: ${label}, ${p}`,
    yours: (count) => (count === 1 ? "tu signo, de un dibujo" : `tu signo, de ${count} dibujos`),
    teach: "Enséñale este signo",
    not: (label) => `¿no es un ${label}?`,
    onlyThese: "Solo conoce los signos de abajo. Tres dibujos bastan para añadir uno tuyo.",
    readsAs: (label, p) => `Se lee ${label}, ${p}`,
    unsureOf: (label, p) => `No está seguro, quizá ${label}, ${p}`,
    seesNone: "No ve ninguna cifra",
  },
  looks: {
    kinds: {
      crossing: "el cruce",
      end: "la punta",
      turn: "el giro",
      bend: "la curva",
      line: "el trazo",
      ink: "la tinta",
      gap: "el hueco",
    },
    positions: {
      topLeft: "de arriba a la izquierda",
      top: "de arriba",
      topRight: "de arriba a la derecha",
      left: "de la izquierda",
      middle: "del medio",
      right: "de la derecha",
      bottomLeft: "de abajo a la izquierda",
      bottom: "de abajo",
      bottomRight: "de abajo a la derecha",
    },
    at: (kind, position) => `${kind} ${position}`,
    both: (a, b) => `${a} y ${b}`,
    it: "Mira sobre todo {1}: ",
    patch: "El parche elegido mira sobre todo {1}: ",
    hold: (patches, all, share) =>
      patches === 1
        ? `un parche de ${all} reúne ${share} de su atención.`
        : `${patches} de ${all} parches reúnen ${share} de su atención.`,
    spread: (p) => `Mira un poco por todas partes: ningún parche reúne más de ${p} de su atención.`,
    onePatch: (p) => `${p} en un parche`,
  },
  waiting: {
    ink: "Espera tinta",
    loading: "Cargando",
    noModel: "Sin modelo",
    more: "Más tinta",
    noInk: "No se ve tinta",
    reading: "Leyendo",
  },
  pad: {
    hint: "Dibuja aquí una cifra",
    yourTurn: "Te toca: dibuja encima",
    blank: "La hoja está en blanco",
    cleared: "Borrado",
    example: (label) => `Un ejemplo: ${label}`,
  },
  maps: {
    mean: "media",
    button: (layer, head) => `Capa ${layer}, cabeza ${head}`,
    tick: (p) => `marca: todas iguales, ${p}`,
    most: (row, column, p) => `El máximo está en la fila ${row}, columna ${column}: ${p}.`,
    chosen: (row, column) => `Parche de la fila ${row}, columna ${column}.`,
    none: "Dibuja, y cada parche toma el color de la atención que recibe.",
    allHeads: "media de todas las cabezas",
    head: (head) => `cabeza ${head}`,
    ofClass: (layer, heads) =>
      `Atención del token de clase a cada parche en la capa ${layer}, ${heads}.`,
    ofMean: (layer, heads) =>
      `Atención de la media de todos los parches a cada parche en la capa ${layer}, ${heads}.`,
    ofPatch: (row, column, layer, heads) =>
      `Atención del parche de la fila ${row}, columna ${column} a cada parche en la capa ${layer}, ${heads}.`,
    toClass:
      "Cuánto de cada parche llega al token de clase a través de todas las capas (Abnar & Zuidema, 2020).",
    toMean:
      "Cuánto de cada parche llega a la media de todos los parches a través de todas las capas (Abnar & Zuidema, 2020).",
    similarity: (row, column) =>
      `Similitud de cada parche con el parche de la fila ${row}, columna ${column} tras la última capa: el coseno de sus vectores.`,
    common: (p) => `${p}, una escala para todos`,
  },
  models: {
    digits: "digits",
    "digits-plain": "digits-plain: sin convoluciones antes",
    "digits-large": "digits-large: 2,4 veces más grande",
    myvit: "myvit: el diminuto ViT del tutorial",
    signs: "mis signos",
  },
  calibration: {
    never:
      "Nunca se calibraron: el modelo puede acertar más o menos a menudo de lo que ellas dicen.",
    scaled: (temperature) =>
      `Las puntuaciones se dividen primero entre ${temperature}. Al 90\u00a0%, unas nueve de cada diez respuestas son correctas, en cifras como las que vio al aprender.`,
    limit: (p) => `Una respuesta por debajo de ${p} cuenta como no segura.`,
  },
  status: {
    kilobytes: (count) => `${count} kB`,
    megabytes: (count) => `${count} MB`,
    fetching: (loaded) => `Cargando el modelo: ${loaded}`,
    fetchingOf: (loaded, total) => `Cargando el modelo: ${loaded} de ${total}`,
    opening: (size) => `Abriendo los archivos: ${size}`,
    ready: "Listo",
    time: (milliseconds) => `${milliseconds} ms por dibujo`,
    running: (build, size) => `${size} de números aprendidos, calculados por ${build}.`,
    builds: {
      relaxed: "el programa más rápido para este navegador (WebAssembly, relaxed SIMD)",
      simd128: "el programa rápido (WebAssembly con SIMD)",
      scalar: "el programa simple (WebAssembly sin SIMD)",
    },
    retry: "Reintentar",
  },
  trouble: {
    because: (what, why) => `${what}: ${why}`,
    remedied: (what, remedy) => `${what}; ${remedy}`,
    remedy: "comprueba la conexión y pulsa «Reintentar»",
    answered: (status) => `el servidor respondió ${status}`,
    broken: "la conexión falló o se cortó",
    server: "el servidor",
    stopped: "El modelo se ha detenido",
    notLoaded: "El modelo no se ha cargado",
    stays: (wanted, old) => `${wanted} no se ha cargado, sigue ${old}`,
    light: "su forma ligera",
    story: "Esta parte no se ha cargado",
    tab: "El código de esta pestaña no se ha cargado",
    action: (why) => `No ha funcionado: ${why}`,
  },
  share: {
    share: "Compartir",
    damaged: "El dibujo de ese enlace está dañado o cortado y se ha omitido. Pide el enlace de nuevo.",
    large: "Este dibujo es demasiado grande para un enlace: guarda su imagen.",
    photo: "Un enlace contiene trazos y ninguna foto: guarda la imagen.",
    shared: "Compartido: el enlace contiene el dibujo.",
    copied: "Enlace copiado: contiene el dibujo.",
    refused:
      "El navegador no deja copiar a la página. La dirección de arriba contiene ahora el dibujo: cópiala.",
    saved: "La imagen está guardada entre tus descargas.",
    codeCopied: "Copiado",
    codeRefused:
      "El navegador no deja copiar a la página. El código está seleccionado: cópialo con el teclado.",
    noPng: "el navegador no pudo crear un PNG",
  },
  own: {
    noPhoto: "Aún no hay foto",
    seen: (name) => `Lo que ve el modelo: ${name}`,
    theCamera: "la cámara",
    ourExample: "nuestro ejemplo",
    ourDigit: "nuestra foto de una cifra",
    invitePhoto: "Suelta o pega aquí una foto, o elige una",
    inviteAll: "Suelta aquí la carpeta de un checkpoint y una foto, o elige archivos",
    noModel: "Carga un checkpoint, y cada parche toma el color de la atención que recibe.",
    givePhoto: "Dale una foto al modelo.",
    looking: "Mirando…",
    noCheckpoint: "Aún no hay checkpoint",
    headless: "El modelo no tiene cabeza de clasificación y no nombra nada. Similitud con el parche elegido:",
    untrained: "El modelo no está entrenado: solo adivina",
    sees: "El modelo ve",
    waiting: "Espera una foto",
    cosines: (least) => `Similitudes del coseno de ${least} a 1`,
    shown: "Se muestra la atención",
    photo: "No se puede leer esta foto",
    checkpoint: "No se puede leer este checkpoint",
    answer: "No se puede usar la respuesta",
    camera: "No se puede abrir la cámara",
    nothing: "Nada que mostrar",
    asks: (key) => `Los archivos no dicen «${key}» de este modelo: responde abajo.`,
    guessed:
      "Los archivos no dicen cómo los píxeles se vuelven números. Se usa el modo de ImageNet; elige otro arriba.",
    orPixels: "o elige los píxeles arriba",
    misfit: (got) =>
      `Se esperaba el archivo .safetensors, .bin, .pt o .pth de un checkpoint o una imagen; llegó: ${got}`,
    otherFiles: (count) => `${count} archivos de otro tipo`,
    noFiles: "nada",
    unreadable: (name, got) =>
      `${name}: se esperaba una imagen que este navegador pueda leer; llegó: ${got}`,
    unknownType: "un archivo de tipo desconocido",
    heic: "una foto HEIC: conviértela a JPEG",
    noCamera: "se esperaba una página por https o de localhost, y no es ninguna de las dos",
    choose: "elige…",
    noJson: (got) => `config: se esperaba un objeto JSON, como {"heads": 3}; llegó: ${got}`,
    pixels: {
      own: "los de los archivos o de ImageNet",
      imagenet: "media y desviación de ImageNet",
      half: "de −1 a 1",
      clip: "media y desviación de CLIP",
      unit: "de 0 a 1",
    },
    facts: {
      model: "Modelo",
      names: "Nombres",
      family: "Familia",
      assumed: "Supuesto",
      skipped: "Omitido",
      load: "Carga",
      memory: "Memoria",
      speed: "Velocidad",
      shape: (depth, width, heads, patch, image) =>
        `capas: ${depth}, anchura: ${width}, cabezas: ${heads}, parches de ${patch} en ${image}`,
      classes: (count) => (count ? `, clases: ${count}` : ", sin clases"),
      untrained: ", sin entrenar",
      imagenet: "los de ImageNet, porque sus 1000 clases no tienen propios",
      tensors: (count) => `${count} tensores que no son del modelo de imagen`,
      loaded: (size, seconds) => `${size} en ${seconds} s`,
      used: (size) => `${size} de memoria WebAssembly`,
      time: (milliseconds, how) => `${milliseconds} ms por foto (${how})`,
      threads: (count) => `, ${count} hilos`,
    },
  },
  page: {
    title: "Vitrine: un Vision Transformer tras el cristal",
    description:
      "Dibuja una cifra y mira cómo un Vision Transformer la lee en tu navegador, con su atención.",
    language: "Idioma",
    tabs: "Qué mirar",
    tabDraw: "Dibujar",
    tabOwn: "Tu ViT",
    heading: "Dibuja una cifra.",
    lead: "Un pequeño Vision Transformer la lee mientras tu lápiz se mueve, y muestra adónde mira. Nada sale de esta pestaña.",
    drawing: "Dibujo",
    padRole: "hoja de dibujo",
    padLabel: "Dibuja aquí una cifra",
    padKeys:
      "Las flechas mueven el lápiz, con Mayús a pasos mayores. Espacio o Intro baja el lápiz o lo levanta. Control Z deshace un trazo, Control Y lo rehace. Escape o Suprimir borra la hoja.",
    undo: "Deshacer",
    undoTitle: "Deshacer (Ctrl+Z)",
    redo: "Rehacer",
    redoTitle: "Rehacer (Ctrl+Mayús+Z)",
    clear: "Borrar",
    clearTitle: "Borrar (Esc)",
    examples: "Dibujos de ejemplo",
    photo: "Leer la foto de una cifra",
    photoTitle: "Leer la foto de una cifra: elige una, suéltala o pégala",
    takeaway: "Guardar el dibujo o su código",
    shareTitle: "Un enlace que contiene el dibujo",
    save: "Imagen",
    saveTitle: "Guardar el dibujo y el mapa como PNG",
    code: "Código",
    codeTitle: "El código que lee este dibujo",
    model: "Modelo",
    keys: "Las flechas mueven el lápiz y {1} lo baja. {2} {3} deshace, {4} {5} rehace, {6} borra.",
    space: "Espacio",
    ctrl: "Ctrl",
    esc: "Esc",
    reading: "Lo que lee el modelo",
    bars: "Probabilidad de cada clase",
    where: "Adónde mira",
    map: "Mapa",
    mapClass: "Token de clase",
    mapPatch: "Parche del puntero",
    mapRollout: "Rollout",
    mapSimilarity: "Similitud con el parche",
    layer: "Capa",
    head: "Cabeza",
    strength: "Intensidad",
    axes: "Las capas van de izquierda a derecha, las cabezas de arriba abajo. Elige una.",
    maps: "Todas las capas y cabezas; elige una",
    journey: "De la tinta a la respuesta",
    patchRole: "selector de parche",
    pixelsLabel: "Lo que ve el modelo",
    pixelsKeys: "Las flechas eligen el parche cuya atención se muestra.",
    pixels: "Píxeles",
    pixelsText: "Tu tinta, centrada en {1}. El modelo solo ve esto.",
    convolutions: "Convoluciones",
    convolutionsText: "{1} seguidas, de 3\u00a0×\u00a03 cada una. Así un cuadrado ve hasta {2} píxeles.",
    patches: "Parches",
    patchesText: "Cortada en {1} cuadrados de {2} píxeles, leídos línea a línea.",
    tokens: "Tokens",
    tokensText: "Cada cuadrado se vuelve una fila de {1} números. Un token de clase va primero.",
    blocks: "Bloques",
    blocksText: "{1} veces, cada token (fila) toma lo que necesita de todos los tokens (columnas).",
    logits: "Logits",
    logitsText: "El token de clase acaba en {1} puntuaciones; softmax las vuelve probabilidades.",
    overlay: "Superposición",
    overlayText: "La atención del token de clase sobre tu tinta: aquí miró.",
    reliable: "¿Son fiables las probabilidades?",
    paper: "El Vision Transformer es de Dosovitskiy et al., {1}.",
    source: "Código fuente",
    documents: "Documentos",
    licence: "Licencia MIT",
    codeHeading: "El código que lee este dibujo",
    codePage: "Página web",
    copy: "Copiar",
    close: "Cerrar",
    orTry: "o prueba",
    closer: "Mirar de cerca",
    mySigns: "Mis signos",
    machine: "El modelo, y qué llevarte",
    down: "Cómo lee: {1} pasos, en tu propio dibujo",
    local: "nada sale de esta pestaña",
  },
  chapters: {
    patches: "Del parche al token",
    positions: "¿Dónde estoy?",
    score: "Una puntuación a mano",
    layers: "Capa a capa",
    strokes: "Mientras dibujabas",
    doubt: "Softmax y duda",
    learning: "Cómo aprendió",
    cnn: "Junto a una red convolucional",
    masks: "Codificador, decodificador",
    why: "Qué parches hablaron por esta clase",
  },
  ownPage: {
    heading: "Tu propio ViT.",
    lead: "Suelta una foto y un checkpoint (safetensors o PyTorch, de timm, transformers, torchvision o vit-pytorch). Mira adónde mira cada cabeza. Nada sale de esta pestaña.",
    photo: "Foto",
    photoKeys: "Las flechas eligen el parche cuya atención o similitud se muestra.",
    choosePhoto: "Foto…",
    camera: "Cámara",
    example: "Ejemplo",
    checkpoint: "Checkpoint",
    files: "Archivos de un checkpoint, o una foto",
    drop: "Suelta pesos o una foto, o elige archivos",
    chooseFolder: "Carpeta…",
    random: "Un pequeño modelo aleatorio",
    digits: "Nuestras cifras, en una foto",
    known: "Archivos que se cargan tal como son",
    knownHow: "Suelta uno junto con los archivos config.json y preprocessor_config.json que lo acompañan.",
    pixels: "Píxeles",
    config: "Config",
    configHint: 'claves que faltan, como {"heads": 3}',
    reading: "Lo que el modelo ve en la foto",
    classes: "Las clases más probables",
  },
  grid: {
    kind: "cuadrícula de números",
    keys: "Las flechas van de celda en celda. Intro elige una celda.",
    signed: (top) => `Azul: hasta −${top}. Rojo: hasta ${top}.`,
    hidden: "enmascarado",
    tick: (uniform) => `marca: todas iguales, ${uniform}`,
    cell: ({ row, column, value }) => `${row}, ${column}: ${value}`,
    largest: ({ row, column, value }) => `Máximo: ${row}, ${column}, ${value}`,
  },
  story: {
    title: "Por dentro: tu dibujo, paso a paso",
    rail: "Tu dibujo y la respuesta",
    railPad: "Dibuja también aquí",
    layer: "Capa",
    head: "Cabeza",
    blank: "hoja en blanco",
    clear: "Borrar",
    chosen: (row, col) => `Parche: fila ${row}, columna ${col}`,
    patch: (row, col) => `fila ${row}, columna ${col}`,
    row: (n) => `fila ${n}`,
    column: (n) => `columna ${n}`,
    classToken: "token de clase",
    prefixToken: (n) => `token de prefijo ${n}`,
    loading: "Cargando…",
  },
  patches: {
    lead: (patches, pixels) =>
      `La imagen se corta en ${patches} cuadrados, llamados parches. Para el modelo un parche no es una imagen, sino una lista: sus ${pixels} píxeles, leídos línea a línea, 0 para el papel y 1 para la tinta plena.`,
    plain: (pixels, width) =>
      `Un filtro es una lista de ${pixels} pesos que el entrenamiento ha encontrado. Multiplica cada píxel por su peso, suma los productos y un número aprendido más, el sesgo: esta suma es un número del token del parche. ${width} filtros hacen ${width} números, y estos representan al parche desde aquí.`,
    stem: (convolutions, side, width) =>
      `Este modelo pasa primero la imagen entera por ${convolutions} convoluciones: cada una hace mapas nuevos, en los que cada valor se calcula a partir de 3 × 3 lugares de los mapas anteriores. Por eso los ${width} números del parche, su token, saben de hasta ${side} píxeles, no solo de su propio cuadrado.`,
    taskPlain: "Elige un parche en la imagen y luego un filtro. Suma los productos uno a uno y observa la barra del filtro.",
    taskStem: "Elige un parche en la imagen y pasa las convoluciones una a una.",
    noticePlain:
      "Un parche de papel vacío solo tiene productos iguales a 0, así que cada una de sus barras es el sesgo del filtro. Todos los parches vacíos empiezan como el mismo token: sus posiciones vienen después.",
    noticeStem: "Cada convolución ensancha la vista, y una con paso 2 duplica el crecimiento de todas las siguientes. Fuera de la imagen solo hay relleno: ceros.",
    citePlain: "El artículo lo llama proyección lineal de los parches aplanados: Dosovitskiy et al., sección 3.1, arXiv:2010.11929.",
    citeStem: "Convoluciones antes de los parches: Xiao et al., arXiv:2106.14881.",
    chooser: "selector de parche",
    grid: "La imagen en parches",
    gridKeys: "Las flechas eligen el parche, para toda la página.",
    lift: "Separar la cuadrícula de la imagen",
    liftAgain: "Separarla otra vez",
    patch: (row, column, ink) => `Parche de la fila ${row}, columna ${column}: el ${ink} es tinta.`,
    numbers: "Los números del parche elegido",
    unrolled: (row, column, pixels) =>
      `El parche de la fila ${row}, columna ${column}, desenrollado en ${pixels} números`,
    place: (row, column) => `${row},${column}`,
    rows: { pixel: "píxel", weight: "× peso", product: "= producto" },
    filters: "Filtros y token",
    filterLegend: (count) =>
      `Los ${count} filtros y, sobre cada uno, el número que saca de este parche. Los ${count} números juntos son el token.`,
    filterBar: (filter, value) => `Filtro ${filter}: ${value}`,
    filtersKey: (top) => `Las barras acaban en ±${top}. Rojo: mayor que 0. Azul: menor que 0. Igual en los pesos.`,
    filtersMissing: (why) => `Los filtros no se han cargado: ${why}. Elige un parche para reintentarlo.`,
    filtersLoading: "Cargando los filtros…",
    added: (filter) => `Filtro ${filter}: suma los productos uno a uno`,
    addAll: "Sumarlos",
    addedOf: (added, all) => `${added} de ${all} productos`,
    sum: ({ added, all, sum, bias, value }) =>
      `${added === all ? `Los ${all} productos: ${sum}.` : `${added} de ${all} productos: ${sum}.`} Más el sesgo, ${bias}: ${value}.`,
    model: (value) => `El número del propio modelo: ${value}.`,
    passed: "Convoluciones pasadas",
    grow: "Ensanchar la vista",
    fieldFigure: "Lo que ve el parche",
    field: ({ passed, rows, columns, inside, all }) =>
      `${passed === 0 ? "Solo el cuadrado" : passed === 1 ? "Tras 1 convolución" : `Tras ${passed} convoluciones`}: ${rows} × ${columns} píxeles. Dentro de la imagen quedan ${inside}; ella tiene ${all} en total.`,
    token: (width) => `El token del parche: ${width} números`,
    classTitle: "Y un token sin píxeles",
    classToken: (width) =>
      `El token de clase entra vacío: no le corresponde ningún cuadrado, así que ningún filtro lo hace. Sus ${width} números son aprendidos, y los mismos para cada dibujo. En los bloques reúne lo que los parches tienen que decir, y al final la respuesta se lee de él.`,
    classBars: (width, top) => `Los ${width} números del token de clase; las barras acaban en ±${top}`,
  },
  positions: {
    lead:
      "La atención compara cada token con todos los demás y los mezcla según lo que contienen. Dónde estaba un parche no " +
      "entra en esa cuenta: para la atención, una imagen es una bolsa de parches. Por eso hay que decirle a un Vision " +
      "Transformer cuál es el sitio de cada parche: su posición.",
    models:
      "Aquí hay cinco modelos pequeños. Tienen la misma forma (32 números por token, 3 bloques, 4 cabezas) y aprendieron las " +
      "mismas cifras de la misma manera. Solo se distinguen en sus posiciones. El que elijas lee tu dibujo, ahora.",
    kind: "Posiciones",
    kinds: {
      none: "ninguna",
      sincos1d: "seno-coseno 1D",
      sincos2d: "seno-coseno 2D",
      learned: "aprendidas",
      relative: "relativas",
    },
    notes: {
      none: "Ninguna: este modelo nunca se entera de dónde estaba un parche. Solo sabe qué parches hay.",
      sincos1d:
        "Seno-coseno 1D: los tokens se numeran en orden de lectura, desde 0 para el token de clase hasta 49. El número se " +
        "convierte en otros 32, leídos por turno en ondas de seno y de coseno, desde una onda rápida hasta una muy lenta. " +
        "Aquí nada es aprendido.",
      sincos2d:
        "Seno-coseno 2D: la mitad de los 32 números son ondas de la columna del parche, y la otra mitad son ondas de su fila. El " +
        "token de clase, que no está en ningún sitio, recibe ceros. Aquí nada es aprendido.",
      learned:
        "Aprendidas: una tabla de 50 × 32 números, una fila por token. Empezó como pequeños números aleatorios y se entrenó " +
        "como todos los demás pesos. Nadie le dijo que hay filas y columnas.",
      relative:
        "Relativas: no se suma nada a los tokens. Cada cabeza ha aprendido un número para cada desplazamiento, como «dos a la " +
        "derecha, uno arriba», y lo suma a la puntuación entre dos parches que están así.",
    },
    papers: {
      none: [["Sin posiciones los tokens son un conjunto: Dosovitskiy et al. 2020, apéndice D.4", "2010.11929"]],
      sincos1d: [["Vaswani et al. 2017, sección 3.5", "1706.03762"]],
      sincos2d: [
        ["En esta forma: MoCo v3, Chen, Xie & He 2021", "2104.02057"],
        ["Comparación de 1D y 2D: Dosovitskiy et al. 2020, apéndice D.4", "2010.11929"],
      ],
      learned: [["Dosovitskiy et al. 2020, sección 3.1 y apéndice D.4", "2010.11929"]],
      relative: [
        ["Shaw et al. 2018, que aprenden un vector para cada desplazamiento", "1803.02155"],
        ["un número por cabeza, como aquí: Liu et al. 2021 (Swin)", "2103.14030"],
      ],
    },

    scrambleTitle: "Desordenar",
    scrambleLead:
      "Corta tu dibujo en sus 49 parches y colócalos en otro orden. Tú ya no puedes leerlo. ¿Y el modelo?",
    scrambleTask:
      "Pulsa «Desordenar», o arrastra un parche sobre otro para intercambiarlos. Después quita las posiciones. También puedes " +
      "seguir dibujando mientras los parches están en desorden.",
    scrambleNotice:
      "Sin posiciones, las diez puntuaciones se quedan como estaban: se suman los mismos números en otro orden, así que solo " +
      "cambia su redondeo. Con posiciones, la respuesta se deshace, porque cada parche afirma ahora que está en otro sitio.",
    scramble: "Desordenar",
    back: "Poner en orden",
    positions: "Posiciones",
    before: "Antes",
    after: "Después",
    beforeLabel: "Tu dibujo, cortado en parches",
    afterLabel: "Los parches tal como los recibe el modelo",
    boardKeys: "Las flechas van de parche en parche. Intro toma un parche; Intro sobre otro intercambia los dos. Escape lo suelta.",
    held: (place) => `Tomado: ${place}. Elige otro parche para intercambiarlos.`,
    dropped: "Soltado",
    from: (place, patch) => `${place}: el parche de la ${patch}`,
    swapped: (a, b) => `Intercambiados: ${a} y ${b}.`,
    scrambled: "Todos los parches están desordenados.",
    inPlace: "Todos los parches vuelven a estar en su sitio.",
    switchedOn: "Con posiciones.",
    switchedOff: "Sin posiciones.",
    reads: (label, share) => `Se lee ${label}, ${share}`,
    largest: "Mayor cambio de una puntuación",
    notYet: "Cada parche está donde lo dibujaste.",
    onlyRounding: "Esto es redondeo y nada más: para este modelo las dos imágenes son la misma.",
    changed: (before, after) =>
      before === after ? `Otras puntuaciones, aunque la respuesta sigue siendo ${after}.` : `Leía ${before}. Ahora lee ${after}.`,
    scores: "Las diez puntuaciones (logits), antes y después",
    digit: "Cifra",
    accuracy: (digits) => `Aciertos en ${digits} cifras de prueba, tal como son y desordenadas`,
    digitsOn: (digits, before, after) =>
      `De ${digits} cifras de prueba, desordenada cada una a su manera, este modelo acierta el ${before} antes y el ${after} después.`,
    digitsOff: (digits, before, off) =>
      `De ${digits} cifras de prueba este modelo acierta el ${before}. Si se le quitan las posiciones acierta el ${off}, en orden o ` +
      "en desorden: aprendió a contar con ellas.",
    digitsNone: (digits, before) =>
      `De ${digits} cifras de prueba este modelo acierta el ${before} antes y el ${before} después. La tinta, sus pendientes y sus ` +
      "curvas le dicen todo eso; qué había en cada sitio le diría lo demás.",

    addedTitle: "A cada token se le suma una posición",
    addedTitleNone: "A los tokens no se les suma nada",
    addedTitleRelative: "A cada puntuación se le suma un número",
    addedLead:
      "Un token son 32 números que dicen qué hay en su parche. Una posición también son 32 números. El modelo los suma, número " +
      "a número, y desde entonces cada token dice además dónde está.",
    addedNone: "Este modelo no suma nada: cada token entra en el primer bloque tal como salió de su parche. Elige arriba otro tipo de posiciones.",
    addedRelative:
      "Este modelo no suma nada a los tokens. Sus posiciones están en las puntuaciones: antes de softmax, cada cabeza suma a la " +
      "puntuación de dos parches un número que solo depende de cuánto distan y en qué dirección.",
    addedTask: "Mueve el control del token solo al token + posición. Haz clic en una fila de la imagen para elegir su parche.",
    biasTask: "Haz clic en la imagen de una cabeza para mirarla de cerca: las figuras de abajo muestran entonces esa cabeza.",
    addedNotice: {
      none: "",
      sincos1d: "Las columnas de la izquierda ondulan a cada paso. Las de la derecha apenas se mueven del primer parche al último.",
      sincos2d: "A la izquierda las ondas recorren cada fila de siete parches; a la derecha solo cambian de fila en fila, por escalones.",
      learned: "Nadie puso aquí una onda. Busca franjas de siete tokens de alto: los parches de una fila, que llegaron a parecerse entre sí.",
      relative:
        "Visto desde el parche del centro, el rojo sube la puntuación del parche que está ahí y el azul la baja. Muchas cabezas " +
        "tienen un lado propio: uno arriba, por ejemplo, o dos a la izquierda. En la última capa todo es tenue: de ella solo se lee " +
        "el token de clase, así que lo que los parches se dicen entre sí no tiene efecto, y a estos números nunca se les enseñó nada.",
    },
    matrix: "Todas las posiciones, un token por fila",
    matrixCaption: "Todas las posiciones: 50 tokens hacia abajo, 32 números a lo ancho",
    number: (n) => `número ${n}`,
    fade: "Del token al token + posición",
    faded: (percent) => `${percent}\u00a0% de la posición`,
    sumOf: (patch) => `El token del parche de la ${patch}`,
    numberHead: "N.º",
    token: "Token",
    plusPosition: "+ posición",
    equals: "= suma",
    biasLabel: (layer, head) => `Capa ${layer}, cabeza ${head}: sesgo para cada desplazamiento`,
    biasCaption: (layer, head) => `Capa ${layer}, cabeza ${head}`,
    down: (rows) => (rows === 0 ? "misma fila" : rows < 0 ? `${-rows} arriba` : `${rows} abajo`),
    right: (columns) => (columns === 0 ? "misma columna" : columns < 0 ? `${-columns} a la izquierda` : `${columns} a la derecha`),

    alikeTitle: "¿Qué sitios se parecen?",
    alikeLead:
      "El coseno de dos posiciones dice cuánto se parecen: 1 si apuntan en la misma dirección, 0 si no tienen nada en común, −1 " +
      "si son opuestas. La atención compara los tokens mediante productos así, de modo que las posiciones parecidas se encuentran " +
      "fácilmente.",
    alikeNone: "Sin posiciones no hay nada que comparar: todos los sitios son el mismo sitio.",
    alikeTask: "Elige un parche, aquí o en la imagen de abajo.",
    alikeNotice: {
      none: "",
      sincos1d:
        "La similitud sigue el orden de lectura. El parche justo encima está a siete pasos y no más cerca que cualquier otro a " +
        "siete pasos, aunque toca al elegido.",
      sincos2d:
        "La similitud disminuye por igual hacia los cuatro lados: el parche de arriba se parece exactamente tanto como el de la " +
        "derecha. En la imagen grande esto forma rayas, a siete tokens unas de otras.",
      learned: (right, down) =>
        `Nadie le dijo a este modelo que hay una cuadrícula. Sin embargo, dos parches contiguos en una fila tienen de media un coseno de ${decimal(right, 2)}, ` +
        `y dos contiguos en una columna, de ${decimal(down, 2)}; casi todos los demás pares están cerca de 0 o por debajo.`,
      relative: "Pasa de parche en parche: el patrón se desplaza contigo sin cambiar, porque solo cuenta el desplazamiento.",
    },
    placeLabel: "Similitud del parche elegido con todos los parches",
    placeCaption: (patch) => `Visto desde el parche de la ${patch}`,
    allLabel: "Similitud de cada token con cada token",
    allCaption: "Cada token frente a cada token: 50 × 50",
    biasTitle: "¿Qué sitios se encuentran?",
    biasLead: (layer, head) =>
      `No hay posiciones que comparar. Estos son los números que la cabeza ${head} de la capa ${layer} suma a sus puntuaciones: por ` +
      "filas, el token que mira; por columnas, el token al que mira.",

    wideTitle: "Una imagen que no es cuadrada",
    wideLead:
      "La cuadrícula no tiene por qué ser cuadrada. Aquí está tu dibujo estirado a 60 × 100 píxeles, en parches de 20: 3 filas " +
      "de 5. Un modelo diminuto sin entrenar los convierte en 16 tokens de 16 números, con el token de clase primero.",
    wideTask: "Elige el parche 6, el primero de la segunda fila. ¿A qué parches llama vecinos cada numeración?",
    wideNotice:
      "Numerados en una sola línea, el parche 5 del final de una fila está junto al parche 6 del comienzo de la siguiente, y el " +
      "parche de arriba queda a cinco pasos. Las filas y columnas no saben de líneas: derecha y abajo cuentan por igual.",
    wideImage: {
      sincos1d: "El dibujo estirado, con sus parches numerados del 1 al 15 en orden de lectura",
      sincos2d: "El dibujo estirado, con sus parches rotulados por fila y columna",
    },
    wideLikeness: { sincos1d: "1D: similitud con el parche elegido, 3 × 5", sincos2d: "2D: similitud con el parche elegido, 3 × 5" },
    widePositions: { sincos1d: "1D: 16 posiciones de 16 números", sincos2d: "2D: 16 posiciones de 16 números" },
    wideLikenessCaption: "Similitud con el parche elegido",
    widePositionsCaption: "Posiciones: 16 tokens hacia abajo, 16 números a lo ancho",
    wideTokens: "16 tokens de 16 números, antes de las posiciones",
    wideTokensCaption: "Tokens antes de sus posiciones",
    nth: (token) => (token === 0 ? "token de clase" : `parche ${token}`),
  },
  score: {
    leads: [
      "En la atención cada token pide a los demás lo que necesita. Para ello una cabeza calcula tres listas cortas de números a partir de cada token: una consulta q (lo que pide), una clave k (por lo que se le puede encontrar) y un valor v (lo que da).",
      "Cada número de q se multiplica por el mismo número de una clave. La suma, dividida entre √d, es la puntuación: alta donde ambas apuntan en la misma dirección. Softmax convierte las puntuaciones de una consulta en cuotas que suman 1, y la salida de la cabeza es la suma de todos los valores, cada uno multiplicado por su cuota.",
    ],
    task: "Haz clic en un parche de la cuadrícula: su consulta queda lista. Apunta a otro (con el dedo: toca una columna bajo la cuadrícula), y su clave se desliza debajo. Después arrastra un número de q hacia arriba o abajo (con el dedo: hacia los lados; con el teclado: flechas).",
    notice: "Las cuotas forman un todo: donde una crece, todas las demás menguan. Una puntuación mayor en 1 tiene 2,7 veces la cuota, sean cuales sean las demás puntuaciones.",
    cite: "Atención por producto escalar con escala: Vaswani et al., sección 3.2.1, arXiv:1706.03762.",
    whose: "¿La consulta de quién?",
    patchQuery: "la del parche elegido",
    classQuery: "la del token de clase",
    map: "Cuotas de esta consulta, sobre tu dibujo",
    classKey: "Apuntar al token de clase",
    play: "Ver todos los pasos",
    pause: "Pausa",
    next: "Paso siguiente",
    reset: "Restaurar los números",
    qName: (n) => `q, número ${n}`,
    kName: (n) => `k, número ${n}`,
    vName: (n) => `v, número ${n}`,
    pair: (query, key) => `Consulta (${query}), clave (${key})`,
    value: (key, share) => `Valor (${key}), tomado al ${share}, y la salida de la cabeza: la suma sobre todos los tokens`,
    sum: (sum, root, score) => `Suma ${sum}, dividida entre ${root}: puntuación ${score}`,
    sumBias: (sum, root, bias, score) =>
      `Suma ${sum}, dividida entre ${root}, más ${bias} por la distancia de los sitios: puntuación ${score}`,
    steps: {
      query: (d) => `La consulta: ${d} números.`,
      key: () => "La clave del otro token se desliza debajo.",
      products: () => "Número a número, ambas se multiplican.",
      score: () => "La suma, dividida entre √d, es la puntuación de este único par.",
      scores: (_, tokens) => `La misma consulta con las ${tokens} claves: ${tokens} puntuaciones.`,
      softmax: () => "Softmax: e elevado a cada puntuación, dividido entre la suma de todas esas potencias.",
      values: () => "El valor de cada token se multiplica por su cuota.",
      output: (d) => `Sumados, son la salida de la cabeza para este token: ${d} números.`,
    },
    stepOf: (n, all, text) => `Paso ${n} de ${all}. ${text}`,
    strip: "Todos los tokens: puntuación, cuota y valor por cuota",
    stripLegend: (share, top) =>
      `Una columna por token; ▾ es el de la propia consulta. Barras de cuotas: hasta ${share}; discontinua: todas iguales. Números: azul hasta −${top}, rojo hasta ${top}.`,
    scores: "puntuaciones",
    shares: "cuotas",
    values: "valores",
    timesShare: "× cuota",
    outputShort: "suma",
    of: ({ token, score, share }) => `${token}: puntuación ${score}, cuota ${share}`,
    table: "Todas las puntuaciones y cuotas en una tabla",
    tableHead: ["Token", "Puntuación", "Cuota"],
    changed: (moved, length) =>
      `Has cambiado números. La salida de la cabeza (longitud ${length}) se ha movido ${moved}. El mapa, las cuotas, la salida y la respuesta de abajo son de tus números; el resto del modelo sigue igual.`,
    followed: "La respuesta con tus números",
    ownAnswer: (label, p) => `Con sus propios números, el modelo dice ${label}, ${p}.`,
    sameAnswer: (label, before, after) =>
      `Con tus números en esta cabeza, el modelo sigue diciendo ${label}: ${after} en lugar de ${before}. Discontinua: su propia respuesta.`,
    otherAnswer: (old, before, now, p) =>
      `Con tus números en esta cabeza, el modelo dice ${now}, ${p}. Con los suyos decía ${old}, ${before} (línea discontinua).`,
    unchanged: "Estos son los números del propio modelo.",
    undone: "Han vuelto los números del propio modelo.",
    headsTitle: "Todas las cabezas, una junto a otra",
    headsLead: (heads, d) =>
      `El bloque tiene ${heads} cabezas, y cada una calcula esto con sus propios q, k y v, así que cada una puede mirar a otra parte. Para un token cada cabeza da ${d} números. Elige una cabeza para abrirla arriba.`,
    head: (n) => `Cabeza ${n}`,
    headName: ({ n, token, share }) => `Cabeza ${n}. La mayor cuota: ${token}, ${share}`,
    concatenated: "Salidas de las cabezas, concatenadas",
    number: (n) => `número ${n}`,
    projected: "Lo que la atención suma a este token",
    projection: (sizes) =>
      `${sizes.heads} × ${sizes.d} = ${sizes.inner} números, una cabeza por fila, se multiplican por una matriz aprendida de ${sizes.inner} × ${sizes.width}, la proyección, que mezcla las cabezas. Sus ${sizes.width} números se suman al token.`,
    noProjection: (sizes) =>
      `Este modelo no tiene proyección: sus ${sizes.heads} × ${sizes.d} = ${sizes.inner} números, una cabeza por fila, se suman al token tal como están.`,
    projectionOwn: "Se muestra para los números del propio modelo.",
    layerScale: "Se incluye un factor aprendido para cada número (layer scale).",
    ofPrefix: (name, share) => `${name} ${share}`,
    perHead: "En este modelo una cabeza calcula q, k y v solo a partir de su propia parte del token, no del token entero.",
    stem: "Este modelo tiene convoluciones antes de sus parches, así que un token ha visto más que su propio cuadrado.",
    qkNorm: "q y k se muestran tal como se multiplican: tras la normalización de ambas en este modelo.",
    relative: "Este modelo tiene posiciones relativas: cada puntuación recibe un sesgo aprendido para el camino de un parche al otro.",
  },
  layers: {
    lead:
      "Cada token es una lista de números, y todas recorren el modelo una junto a otra: es el flujo residual. Un bloque nunca " +
      "sustituye un token. Su atención le suma algo, y después su MLP (dos pequeñas capas de neuronas, las mismas para cada " +
      "token) le suma algo más. Por eso la cabeza de clasificación del modelo, hecha para la última parada, puede leer el flujo " +
      "en cada parada del camino. Esa es la lente de logits.",
    meanLead: "Este modelo no tiene token de clase: su cabeza de clasificación lee la media de los parches.",
    task: "Pulsa una cabeza, un MLP o un par de normalizaciones para quitarlo, o varios. Después dibuja otra cifra.",
    notice:
      "En la etapa 0 las barras son las mismas para cada dibujo, porque el token de clase aún no ha visto ningún parche. Después " +
      "se forma la respuesta: observa en qué parada, y si la movió la atención o un MLP.",
    meanNotice: "Observa en qué parada se forma la respuesta, y si la movió la atención o un MLP.",
    stem: (field) =>
      `En este modelo hay convoluciones antes de los parches, así que en la etapa 0 un parche ya conoce ${field} píxeles.`,
    caveat:
      "Una lente puede engañar: las primeras paradas nunca se hicieron para que las leyera esta cabeza (Belrose et al.). Y una " +
      "parte cuya ausencia no cambia nada no tiene por qué estar ociosa: otras partes pueden hacer el mismo trabajo (Michel et al.).",
    cite: {
      residual: "He et al.: conexiones residuales",
      lens: "nostalgebraist: la lente de logits (logit lens)",
      tuned: "Belrose et al.: la lente ajustada (tuned lens)",
      heads: "Michel et al.: ¿son dieciséis cabezas mejores que una?",
    },
    figure: "Lo que lee la cabeza de clasificación en cada parada",
    stage: (stage, depth) =>
      stage === 0 ? "Etapa 0, antes del bloque 1" : `Etapa ${stage}, tras el bloque ${stage}${stage === depth ? ": la respuesta" : ""}`,
    half: (block) => `Dentro del bloque ${block}, tras su atención`,
    says: (label, share) => `dice ${label}, ${share}`,
    lensLabel: (stop, bars) => `${stop}: ${bars}`,
    classToken: "token de clase",
    mean: "media de los parches",
    patch: "parche elegido",
    length: (reader, own, patch) => `Longitud del flujo: ${reader} ${own}, parche elegido ${patch}`,
    block: (block) => `Bloque ${block}`,
    attention: "Atención",
    mlp: "MLP",
    norms: "Normalizaciones",
    heads: "Cabezas",
    head: (head) => `cabeza ${head}`,
    leaveOut: {
      head: (block, head) => `la cabeza ${head} del bloque ${block}`,
      mlp: (block) => `el MLP del bloque ${block}`,
      norms: (block) => `las normalizaciones del bloque ${block}`,
    },
    toggle: (part) => `Quitar ${part}`,
    adds: "suma a",
    added: (ratio) => `${ratio} ×`,
    addedHint:
      "La barra compara la longitud de lo que se suma con la longitud del propio token donde empieza el bloque. Llena a medias: la misma longitud.",
    pushes: (changes) => `mueve ${changes} puntos`,
    change: (label, points) => `${label} en ${points}`,
    still: "no mueve ninguna clase ni una décima de punto",
    answer: "La respuesta",
    whole: (label, share) => `No se ha quitado nada. El modelo lee ${label}, ${share}.`,
    same: (parts, label, before, after) =>
      `Sin ${parts} sigue leyendo ${label}: ${before} antes, ${after} ahora.`,
    other: (parts, label, old, before, after) =>
      `Sin ${parts} lee ${label} en lugar de ${old}. ${old}: ${before} antes, ${after} ahora.`,
    parts: (names) => new Intl.ListFormat("es").format(names),
    back: "Devolverlo todo",
    legend: "Contorno: con todas las partes. Relleno: ahora.",
    sweep: "Quitar cada una por turno",
    sweepLead: (label) => `Lo que ${label}, la respuesta, gana o pierde cuando falta una sola parte.`,
    measure: "Medido en",
    measures: { points: "puntos de probabilidad", odds: "log-odds" },
    oddsHint:
      "Cerca del 100\u00a0% la probabilidad p apenas puede moverse. Su log-odds, ln(p / (1 − p)), aún muestra el empuje: 1 menos " +
      "significa que la razón p / (1 − p) se divide entre 2,7.",
    progress: (done, of) => `${done} de ${of} ejecuciones`,
    becomes: (label) => `→ ${label}`,
    worst: (part, points, odds) =>
      `Lo que más se pierde es sin ${part}: ${points} puntos, ${odds} en log-odds.`,
    none: "Ninguna parte por sí sola le quita algo a la respuesta.",
  },
  strokes: {
    example: "Una foto no tiene trazos: este es el ejemplo de la página.",
    lead: "Tu dibujo, leído una y otra vez mientras crecía: cada corte vertical de la franja muestra cómo repartía el modelo el 100\u00a0% entre las clases en ese momento. El tiempo corre a lo largo del camino del lápiz, así que un lápiz lento no ocupa más sitio que uno rápido.",
    task: "Arrastra por la franja, o mueve el control que hay debajo. La imagen pequeña muestra el dibujo tal como era entonces, con la respuesta que le corresponde.",
    notice:
      "Media cifra puede leerse mal, y con razón: la primera mitad de un 9 es un 0 perfecto. El modelo solo ha aprendido de cifras enteras, y cada dibujo inacabado se centra y se amplía como uno entero, de modo que hasta el primer punto llena su imagen.",
    noticePale:
      "Media cifra puede leerse mal, y con razón: la primera mitad de un 9 es un 0 perfecto. Por eso la página muestra al modelo tu dibujo en tinta pálida mientras el lápiz está abajo, y el modelo ha aprendido de dibujos inacabados en esa tinta lo que significa: puede venir más. Duda hasta que el lápiz se levanta.",
    strip: "Probabilidades mientras dibujabas",
    time: "Cuánta tinta está dibujada",
    replay: "Repetir",
    put: "Llevar este momento a la hoja",
    undo: "Deshacer recupera después el dibujo entero.",
    start: "primer punto",
    end: "dibujo entero",
    stroke: (n) => `trazo ${n}`,
    sure: "La línea bajo la franja: donde el modelo está seguro de su respuesta.",
    reading: (done, all) => `${done} de ${all} momentos leídos`,
    read: (all) => `${all} momentos leídos`,
    moment: (share, label, p) => `${share} de la tinta: ${label}, ${p}`,
    blank: (share) => `${share} de la tinta: aún nada que leer`,
    changes: (runs, all) => {
      const [last, ...before] = [...runs].reverse();
      if (!last) return "";
      if (all === 1) return `Dijo ${last.label} desde el primer punto hasta el final.`;
      const earlier = before.reverse().map(({ label, share }, i) => (i === 0 ? `Con el ${share} de la tinta dijo ${label}` : `con el ${share}, ${label}`));
      const many = all > runs.length ? `La respuesta cambió ${all - 1} veces. ` : "";
      return `${many}${earlier.join("; ")}; y desde el ${last.share}, ${last.label}.`;
    },
    first: (label, share) => ` Había dicho ${label} por primera vez con el ${share}.`,
  },
  doubt: {
    lead:
      "La cabeza de clasificación da a cada clase un número, su logit. Softmax los convierte en probabilidades: eleva e a cada " +
      "uno y divide después entre la suma. Así que solo cuentan las diferencias entre logits. Antes se dividen todos entre la " +
      "temperatura T: por debajo de 1 hace la respuesta más segura, por encima de 1 menos segura.",
    task: "Arrastra una columna, o muévela con las flechas. Después mueve la temperatura.",
    notice: "Ninguna temperatura cambia qué clase va primera. Solo cambia cuán segura suena la respuesta.",
    cite: "Guo et al.: sobre la calibración (On Calibration of Modern Neural Networks), arXiv:1706.04599.",
    ofDrawing: "Estos son los logits de tu dibujo.",
    ofDigit: (d) =>
      d.truth === d.label
        ? `Imagen de prueba ${d.number} de MNIST: su etiqueta es ${d.truth}, y el modelo lee ${d.label}, ${d.share}.`
        : `Imagen de prueba ${d.number} de MNIST: su etiqueta es ${d.truth}, pero el modelo lee ${d.label}, ${d.share}. ` +
          `${d.truth} recibe ${d.truthShare}.`,
    changed: "Los has cambiado.",
    reset: "Volver a los logits del modelo",
    toDrawing: "Volver a mi dibujo",
    table: "Softmax, paso a paso",
    columns: { class: "clase", sum: "suma" },
    rows: { slider: "arrastra", logit: "logit z", scaled: "z ÷ T", power: "e elevado a z ÷ T − mayor", share: "probabilidad" },
    slider: (label) => `Logit de la clase ${label}`,
    value: (logit, share) => `${logit}; probabilidad ${share}`,
    moved: (label, share, best, bestShare) =>
      label === best ? `${label} tiene ahora ${share}.` : `${label} tiene ahora ${share}. La primera es ${best}, ${bestShare}.`,
    largest: "Antes se resta el mayor. El resultado es el mismo, y ninguna potencia se hace demasiado grande para un ordenador.",
    temperature: "Temperatura T",
    temperatureIs: (t, own) => `T = ${t}${own ? ", la del propio modelo" : ""}`,
    ownTemperature: (t) => `La del propio modelo: ${t}`,
    sum: (label, power, sum, share) =>
      `Las potencias suman ${sum}. De ello, ${label} tiene ${power}: ${share}.`,

    reliability: "¿Está tan seguro como acierta?",
    reliabilityLead: (images, model) =>
      `${images} cifras de prueba de MNIST, de las que el modelo «${model}» no aprendió, repartidas en 15 intervalos según lo segura ` +
      "que era la respuesta. Un punto es un intervalo: hacia la derecha, cuán segura; hacia arriba, cuántas respuestas eran " +
      "correctas; la línea que lo atraviesa, dónde está probablemente la proporción verdadera (intervalo de Wilson, 95\u00a0%). " +
      "En la diagonal, estar seguro al 80\u00a0% significa acertar 8 veces de cada 10.",
    other: (model) => `La página usa ahora otro modelo. Estos resultados son los de «${model}».`,
    diagram: "Diagrama de fiabilidad",
    sure: "cuán seguro",
    right: "cuánto acierta",
    counts: "cifras por intervalo (logarítmico)",
    youAreHere: "estás aquí",
    here: (d) =>
      `Estás aquí: ${d.share}. De las cifras de prueba, ${d.count} tuvieron una respuesta con una seguridad entre ${d.from} y ${d.to}. ` +
      `De ellas eran correctas ${d.right}, el ${d.rightShare}.`,
    hereEmpty: (share, from, to) =>
      `Estás aquí: ${share}. A esta temperatura ninguna cifra de prueba tuvo una respuesta con una seguridad entre ${from} y ${to}.`,
    gaps: (now, t, before, own, ownT) =>
      `La diferencia media entre seguridad y acierto (error de calibración esperado) es de ${now} puntos con T = ${t}. ` +
      `Sin temperatura, T = 1, es de ${before}; con la del propio modelo, ${ownT}, es de ${own}.`,
    atOne: (sure, right, modest) =>
      `Con T = 1 la seguridad de las respuestas es de media del ${sure}, y el ${right} son correctas: el modelo es demasiado ` +
      `${modest ? "modesto" : "atrevido"}. Su propia temperatura se eligió con otras imágenes, para que ambas coincidan.`,
    points: (bins) => `Intervalos que no están vacíos: ${bins}`,
    point: (sure, right, count) => `${sure} de seguridad, ${right} de aciertos, ${count} cifras`,

    worst: "Sus veinte peores",
    worstLead: (model) =>
      `En estas cifras de prueba «${model}» tiene su mayor pérdida: −ln de la probabilidad que da a la clase correcta. Algunas también ` +
      "son difíciles para las personas, y algunas etiquetas son discutibles. Elige una, y las columnas y «estás aquí» la siguen.",
    digit: (number, truth) => `Imagen de prueba ${number}, con la etiqueta ${truth}`,
    without:
      "No están en esta compilación, porque las imágenes de MNIST no son parte del repositorio. Para tenerlas, pon los cuatro " +
      "archivos de MNIST en una carpeta, indícala en $VITRINE_DATA y ejecuta: npm run build",
    notLoaded: "Las cifras no se han cargado; recarga la página para reintentarlo.",
  },
  masks: {
    leads: [
      "Todo Transformer calcula la atención como se ha visto arriba. Lo que cambia es qué puntuaciones cuentan. Un codificador, como este ViT, lee todos sus tokens a la vez: cada uno puede mirar a cada uno. Un decodificador escribe un token tras otro, así que ninguno puede mirar lo que aún no está escrito: antes de softmax una máscara causal pone esas puntuaciones a −∞, y sus cuotas son 0.",
      "En la atención cruzada las consultas son del decodificador, y las claves y los valores son del codificador: lo que se escribe pregunta a lo que se leyó.",
    ],
    task: "Elige una máscara. Se aplica a las puntuaciones de tu propio dibujo, en la capa y la cabeza elegidas; después viene softmax. Haz clic en una fila para ver lo que ve su token.",
    notice: {
      full: "Completa: no hay nada rayado. Esta es la matriz que el modelo usó de verdad.",
      causal: "Causal: rayada por encima de la diagonal. El primer token solo se ve a sí mismo, con el 100\u00a0%. Aquí ese es el token de clase, así que no se enteraría de nada de tu dibujo: por eso los decodificadores leen su respuesta del último token.",
      cross: "Cruzada: no es cuadrada. Hay tantas filas como consultas y tantas columnas como claves. Un decodificador que escribe un pie de foto tendría una fila por palabra.",
    },
    causalPlain: "Causal: rayada por encima de la diagonal. El primer token solo se ve a sí mismo, con el 100\u00a0%: los decodificadores leen su respuesta del último token.",
    honest: "Este modelo nunca aprendió con una máscara, y un ViT no tiene decodificador: aquí solo se enmascaran las puntuaciones de esta cabeza, y las capas anteriores se ejecutaron sin máscara.",
    crossClass: "De única consulta del decodificador hace la del token de clase, y las claves son solo las de los parches. No es tan rebuscado: en las últimas capas de CaiT solo pregunta el token de clase, y responden los parches (y él mismo).",
    crossPatch: "De única consulta del decodificador hace la del parche elegido, porque este modelo no tiene token de clase.",
    chips: "¿Qué puntuaciones cuentan?",
    full: "completa",
    causal: "causal",
    cross: "cruzada",
    matrix: "Cuotas tras la máscara y softmax",
    axes: {
      full: "Filas: quién pregunta. Columnas: a quién se pregunta. Primero el token de clase, después los parches fila a fila. Los colores acaban en el 25\u00a0%.",
      causal: "Filas: quién pregunta. Columnas: a quién se pregunta, rayadas donde hay máscara. Primero el token de clase, después los parches fila a fila. Los colores acaban en el 25\u00a0%.",
      cross: "Una fila: la consulta. Columnas: los parches, fila a fila. Los colores acaban en el 25\u00a0%.",
    },
    map: "La fila elegida sobre tu dibujo",
    asks: (token) => `consulta (${token})`,
    asked: (token) => `clave (${token})`,
    sums: ({ rows, least, most }) =>
      rows === 1 ? `La fila suma ${most}.` : `Las ${rows} filas suman 1: la suma menor es ${least}, la mayor ${most}.`,
    masked: (masked, all) => `${masked} de ${all} celdas están enmascaradas.`,
    sees: ({ token, seen, all, sum }) =>
      `La consulta (${token}) ve ${seen} de ${all} tokens; sus cuotas suman ${sum}.`,
    usesTitle: "Quién usa qué",
    usesHead: ["", "completa", "causal", "cruzada"],
    uses: [
      ["ViT, BERT: codificadores", "en cada capa", "–", "–"],
      ["GPT: un decodificador", "–", "en cada capa", "–"],
      ["Traductor (Vaswani et al.)", "entre las palabras que lee", "entre las palabras que ha escrito", "de cada palabra escrita a las palabras que lee"],
      ["Escritor de pies de foto con un ViT", "entre los parches", "entre las palabras del pie de foto", "de cada palabra del pie de foto a los parches"],
      ["CaiT: un ViT", "entre los parches, en todas las capas menos las dos últimas", "–", "del token de clase a los parches y a sí mismo, en las dos últimas capas"],
    ],
    cite: "Los tres usos de la atención: Vaswani et al., sección 3.2.3, arXiv:1706.03762.",
    citeCait: "La atención de clase de CaiT: Touvron et al., arXiv:2103.17239.",
  },
  teachIt: {
    title: "Enseñarle un signo",
    signs: "Mis signos",
    first: "Dibuja tu signo en la hoja.",
    more: (count) => (count === 1 ? "Y una vez más." : "Dibújalo dos veces más, como lo harías mañana."),
    enough: "Con eso basta. ¿Cómo se llama?",
    drawings: "Los dibujos de este signo",
    removeDrawing: (index) => `Quitar el dibujo ${index}`,
    name: "¿Cómo se llama?",
    placeholder: "estrella",
    known: "¿O ya lo conoce?",
    itIs: (label) => `Es ${label}`,
    honest: "También practica sus cifras y garabatos, para seguir siendo honesto sobre lo que no conoce.",
    cancel: "Cancelar",
    next: "Otro dibujo",
    learn: "Aprender",
    stop: "Detener",
    learning: "Aprendiendo, en esta pestaña…",
    step: ({ step, steps, right, seconds }) => `paso ${step} de ${steps} · ${right} de aciertos · faltan ${seconds} s`,
    taught: (seconds, right, all) => `Aprendido en ${seconds} s: lee bien ${right} de tus ${all} dibujos.`,
    stopped: "Detenido. El modelo está como antes.",
    failed: (why) => `No ha podido aprenderlo: ${why}`,
    none: "Aún no hay signos. Bastan tres dibujos de cada uno.",
    remove: (label, index) => `Quitar el dibujo ${index} de ${label}`,
    changed: "Tus dibujos han cambiado desde que aprendió.",
    again: "Aprender otra vez",
    another: "Enseñar otro",
    forget: "Olvidar todo",
    undo: "Deshacer",
    download: "Descargar",
    upload: "Cargar…",
    link: "Copiar un enlace",
    close: "Cerrar",
    kept: "Guardados en este navegador hasta que los olvides.",
    notKept: "Este navegador no guarda nada. Descarga el modelo para tenerlo más tarde.",
    uploaded: (file) => `Ahora es ${file} el que lee.`,
    refused: (file, why) => `${file} no se ha aceptado: ${why}`,
    photos: "lee fotos y no dibujos; «Tu ViT» lo muestra",
    linked: "Estos dibujos venían con el enlace. Pulsa «Aprender otra vez» y el modelo los aprende aquí.",
    damaged: "Los dibujos de ese enlace están dañados.",
    tooLarge: "Demasiados dibujos para un enlace: descarga el modelo. Su archivo los contiene.",
  },
  teach: {
    lead:
      "Seis ejercicios para una clase de 45 minutos, a partir de unos 15 años. Cada uno solo necesita esta página: ninguna cuenta, y ningún dibujo sale de la pestaña. Una vez cargada, la página funciona sin red.",
    print: "Imprimir esta página",
    look: "En qué fijarse",
    exercises: [
      {
        chapter: "positions",
        title: "¿Importa el orden?",
        task: "Dibuja un 7. En «¿Dónde estoy?» elige «ninguna» y desordena los parches. Después elige «seno-coseno 2D» y desordena otra vez.",
        look: "Sin posiciones no cambia ninguna puntuación, porque la atención suma sobre un conjunto, y un conjunto no tiene orden. Con posiciones la respuesta se deshace: los mismos parches dicen ahora que están en otro sitio.",
      },
      {
        chapter: "score",
        title: "Una puntuación a mano",
        task: "En «Una puntuación a mano» elige un parche de tu tinta y uno a su lado. Multiplica en papel los cuatro primeros números de q y k. Después deja que la página los haga todos.",
        look: "La puntuación es una suma de productos dividida entre √d: grande donde q y k apuntan en la misma dirección. Softmax hace cuotas de todas las puntuaciones, así que un token solo puede mirar más a un parche si mira menos a otros.",
      },
      {
        chapter: "masks",
        title: "¿Quién puede mirar a quién?",
        task: "En «Codificador, decodificador» pasa de la atención completa a la causal. Busca la fila del primer parche y la del último.",
        look: "Con la máscara causal la primera fila solo puede mirarse a sí misma, y la última fila sigue viéndolo todo. Un modelo que escribe una palabra tras otra lo necesita; uno que lee una imagen entera, no.",
      },
      {
        chapter: "layers",
        title: "¿Cuándo lo sabe?",
        task: "Dibuja un 4 que casi se cierre por arriba. En «Capa a capa» lee lo que diría el modelo tras cada bloque. Después quita una cabeza tras otra.",
        look: "La respuesta suele formarse en los últimos bloques, y casi cualquier cabeza puede faltar sin que cambie: comparten su trabajo (Michel et al., arXiv:1905.10650). Anota de qué cabeza no puede prescindir tu cifra.",
      },
      {
        chapter: "strokes",
        title: "Media cifra",
        task: "Dibuja un 9, empezando por su bucle. En «Mientras dibujabas» arrastra hacia atrás hasta el momento en que solo estaba el bucle.",
        look: "El bucle solo es un 0 o el comienzo de un 6, un 8 o un 9. Un buen modelo reparte ahí su probabilidad. ¿Es honesto este? Compara con lo que habrías dicho tú.",
      },
      {
        chapter: "doubt",
        title: "¿Qué significa 90\u00a0%?",
        task: "Dibuja algo entre un 4 y un 9. En «Softmax y duda» mueve la temperatura y lee después el diagrama de fiabilidad.",
        look: "La temperatura nunca cambia qué clase va primera, solo cuán seguro suena el modelo. Calibrado significa: de todas las respuestas al 90\u00a0%, unas nueve de cada diez son correctas, en cifras como aquellas con las que se midió.",
      },
    ],
  },
} satisfies Translation;
