"""What is printed: the text of each page of a PDF that Chromium made."""

import re
import zlib

OBJECT = re.compile(rb"\n(\d+) 0 obj(.*?)endobj", re.DOTALL)
SHOWN = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)> Tj")
RANGE = re.compile(rb"<(\w{4})> <(\w{4})> <(\w{4})>")
SINGLE = re.compile(rb"^<(\w{4})> <(\w+)>", re.MULTILINE)

type Glyphs = dict[int, str]


def pages_of(pdf: bytes) -> list[str]:
    """The text of each page without any blanks, in the order in which it is drawn."""
    objects = {int(found[1]): found[2] for found in OBJECT.finditer(pdf)}
    pages = [body for body in objects.values() if b"/Type /Page\n" in body]
    return [_text(page, objects) for page in pages]


def _text(page: bytes, objects: dict[int, bytes]) -> str:
    fonts = {
        found[1]: _glyphs(objects[int(found[2])], objects)
        for found in re.finditer(rb"/(F\d+) (\d+) 0 R", page)
    }
    contents = re.search(rb"/Contents (\d+) 0 R", page)
    assert contents is not None
    text: list[str] = []
    glyphs: Glyphs = {}
    for font, codes in SHOWN.findall(_stream(objects[int(contents[1])])):
        if font:
            glyphs = fonts[font]
        for start in range(0, len(codes), 4):
            text.append(glyphs.get(int(codes[start : start + 4], 16), ""))
    return "".join("".join(text).split())


def _glyphs(font: bytes, objects: dict[int, bytes]) -> Glyphs:
    """Which character each glyph of a font stands for."""
    named = re.search(rb"/ToUnicode (\d+) 0 R", font)
    if named is None:
        return {}
    table = _stream(objects[int(named[1])])
    glyphs: Glyphs = {}
    for first, last, character in RANGE.findall(table):
        for offset in range(int(last, 16) - int(first, 16) + 1):
            glyphs[int(first, 16) + offset] = chr(int(character, 16) + offset)
    for code, characters in SINGLE.findall(table):
        glyphs.setdefault(int(code, 16), bytes.fromhex(characters.decode()).decode("utf-16-be"))
    return glyphs


def _stream(body: bytes) -> bytes:
    return zlib.decompress(body.split(b"stream\n", 1)[1].rsplit(b"\nendstream", 1)[0])
