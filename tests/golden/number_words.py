"""Numbers in words by ICU's spelling rules, an oracle of weights/tools/number-words.mjs: prints the SHA-256 of the
texts of 0 to 9999, a line each, of each language. Made with ICU 72. What ICU writes otherwise, and we follow usage:
French hyphens round `et`, Serbian's case of the thousands and its `i`, Chinese 零 for 〇 and 两千 for 二千.
"""
import ctypes
import ctypes.util
import hashlib
import re

name = ctypes.util.find_library("icui18n")
icu, version = ctypes.CDLL(name), re.search(r"so\.(\d+)", name)[1]
SPELLOUT, LONGEST = 5, 200
spelling = getattr(icu, f"unum_open_{version}")
spelling.restype = ctypes.c_void_p
spell = getattr(icu, f"unum_format_{version}")


def spelled(locale):
    error, text = ctypes.c_int(0), (ctypes.c_uint16 * LONGEST)()
    rules = ctypes.c_void_p(spelling(SPELLOUT, None, 0, locale, None, ctypes.byref(error)))
    for n in range(10_000):
        length = spell(rules, n, text, LONGEST, None, ctypes.byref(error))
        yield bytes(text)[: 2 * length].decode("utf-16-le").replace("\u00ad", "")


OURS = {
    "en": lambda text: text,
    "de": lambda text: text,
    "fr": lambda text: text.replace("-et-", " et "),
    "sr": lambda text: re.sub("^(dve|tri|četiri) hiljada", r"\1 hiljade", text.replace(" i ", " ").replace("jedna ", "")),
    "zh": lambda text: re.sub("^二千", "两千", text.replace("〇", "零")),
}
for language, ours in OURS.items():
    locale = b"sr_Latn" if language == "sr" else language.encode()
    print(language, hashlib.sha256("\n".join(map(ours, spelled(locale))).encode()).hexdigest())
