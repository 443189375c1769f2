"""German messages about pages, comments, edits, and the documents that pages consist of."""

from typing import Final

MESSAGES: Final = {
    # Pages and comments.
    "The page has been moved in the meantime; reload it.": (
        "Die Seite wurde inzwischen verschoben; laden Sie sie neu."
    ),
    "The page is being changed by others; reload it.": (
        "Andere ändern die Seite gerade; laden Sie sie neu."
    ),
    "The page is being replaced by others; try again.": (
        "Andere ersetzen die Seite gerade; versuchen Sie es noch einmal."
    ),
    "The page is %s: another user has saved.": "Die Seite ist %s: Jemand anders hat gespeichert.",
    "at version %s, not %s": "bei Fassung %s, nicht %s",
    "at another version %s than yours, which a failover has lost": (
        "bei einer anderen Fassung %s als Ihrer, die beim Ausfall eines Servers verloren ging"
    ),
    "A template brings its own content.": "Eine Vorlage bringt ihren Inhalt mit.",
    "The parent is in another space.": "Die Seite darüber ist in einem anderen Bereich.",
    "A page cannot be below itself.": "Eine Seite kann nicht unter sich selbst sein.",
    "That page is not a sibling at the new place.": (
        "Jene Seite ist am neuen Platz nicht daneben."
    ),
    "Put the page in the trash first.": "Legen Sie die Seite zuerst in den Papierkorb.",
    "The page has been taken out of the trash in the meantime.": (
        "Die Seite wurde inzwischen aus dem Papierkorb geholt."
    ),
    "You would not manage this page any more; keep the role manager for yourself or for a group"
    " that you are in.": (
        "Sie würden diese Seite nicht mehr verwalten; behalten Sie die Rolle „Verwaltet“ für sich"
        " oder eine Gruppe, in der Sie sind."
    ),
    "Send doc or markdown, not both.": "Senden Sie doc oder markdown, nicht beides.",
    "That comment does not begin a thread.": "Jener Kommentar beginnt kein Gespräch.",
    "With bases, change either the text or the state.": (
        "Ändern Sie mit bases entweder den Text oder den Stand."
    ),
    "Somebody has changed this comment meanwhile.": (
        "Jemand hat diesen Kommentar inzwischen geändert."
    ),
    "Only its author may edit a comment.": "Einen Kommentar ändert nur, wer ihn geschrieben hat.",
    "Only its author or a manager may delete a comment.": (
        "Einen Kommentar löscht nur, wer ihn geschrieben hat oder die Seite verwaltet."
    ),
    # Edits.
    "The page is at edit %s, and this one is based on %s.": (
        "Die Seite ist bei Änderung %s, und diese beruht auf %s."
    ),
    "Edit %s of this client is another one.": "Änderung %s dieses Clients ist eine andere.",
    "The edits since %s are not kept; read the live document.": (
        "Die Änderungen seit %s sind nicht mehr da; lesen Sie das Dokument neu."
    ),
    "The page after edit %s is not kept any more (edits are kept for %s days); edit %s and later"
    " ones are, and so are the versions.": (
        "Die Seite nach Änderung %s ist nicht mehr da (Änderungen bleiben %s Tage); Änderung %s"
        " und spätere sind es noch, ebenso die Fassungen."
    ),
    "steps: %s are too many (a page of this size takes %s at once); send them in several edits.": (
        "steps: %s sind zu viele (bei einer Seite dieser Größe gehen %s auf einmal); senden Sie"
        " sie in mehreren Änderungen."
    ),
    "The steps have too many levels.": "Die Schritte haben zu viele Ebenen.",
    "too much work for one edit; send the rest in several edits": (
        "zu viel Arbeit für eine Änderung; senden Sie den Rest in mehreren Änderungen"
    ),
    "takes more than %s s to work on": "braucht mehr als %s s Arbeit",
    "takes more memory than it may": "braucht mehr Speicher, als es darf",
    # Documents.
    "a document is an object of the type doc": "ein Dokument ist ein Objekt des Typs doc",
    "a document has no marks": "ein Dokument hat keine Auszeichnungen",
    "a node is an object with a type": "ein Knoten ist ein Objekt mit einem Typ",
    "content is a list": "content ist eine Liste",
    "attrs is an object": "attrs ist ein Objekt",
    "marks is a list": "marks ist eine Liste",
    "marks is a list of at most %s": "marks ist eine Liste von höchstens %s",
    "a mark is given twice": "eine Auszeichnung steht zweimal da",
    "%s is no mark": "%s ist keine Auszeichnung",
    "%s is no node": "%s ist kein Knoten",
    "%s is no step": "%s ist kein Schritt",
    "%s cannot be here": "%s kann hier nicht sein",
    "%s cannot be within a line": "%s kann nicht in einer Zeile sein",
    "a %s holds only %s": "%s enthält nur %s",
    "a %s cannot have this content": "%s kann diesen Inhalt nicht haben",
    "a %s cannot be joined to a %s": "%s kann nicht mit %s verbunden werden",
    "there are no marks in a %s": "in %s gibt es keine Auszeichnungen",
    "a text node has a text": "ein Textknoten hat einen Text",
    "a text node has a text, and no attrs or content": (
        "ein Textknoten hat einen Text, aber weder attrs noch content"
    ),
    "only a text node has a text": "nur ein Textknoten hat einen Text",
    "an address is a text": "eine Adresse ist ein Text",
    "an address of this scheme could run code": "eine solche Adresse könnte Code ausführen",
    "an address has at most 4000 characters": "eine Adresse hat höchstens 4000 Zeichen",
    "a label is 1 to 60 characters without spaces or brackets": (
        "ein Name hat 1 bis 60 Zeichen, keine Leerzeichen oder Klammern"
    ),
    "a heading's level is 1 to 6": "die Ebene einer Überschrift ist 1 bis 6",
    "a list starts with 0 to %s": "eine Liste beginnt mit 0 bis %s",
    "a code block holds only text": "ein Codeblock enthält nur Text",
    "a table holds only tableRow": "eine Tabelle enthält nur tableRow",
    "a row holds only tableCell and tableHeader": (
        "eine Zeile enthält nur tableCell und tableHeader"
    ),
    "a table with too many cells": "eine Tabelle mit zu vielen Zellen",
    "more than %s levels": "mehr als %s Ebenen",
    "more than %s nodes": "mehr als %s Knoten",
    "more than %s characters": "mehr als %s Zeichen",
    "links with more than %s characters": "Links mit mehr als %s Zeichen",
    "takes too long to read": "es zu lesen dauert zu lange",
    # Steps.
    "a position is a whole number": "eine Stelle ist eine ganze Zahl",
    "position %s is outside of a content of %s": (
        "die Stelle %s liegt außerhalb eines Inhalts von %s"
    ),
    "position %s is outside of the document": "die Stelle %s liegt außerhalb des Dokuments",
    "this is a position in the slice": "das ist eine Stelle im Ausschnitt",
    "this is a list of at most %s steps": "hier steht eine Liste von höchstens %s Schritten",
    "this is a list of at most %s mark steps": (
        "das ist eine Liste von höchstens %s Schritten für Auszeichnungen"
    ),
    "only mark steps can be here": "hier können nur Schritte für Auszeichnungen sein",
    "this is the name of an attribute": "das ist der Name eines Attributs",
    "this is a whole number from %s to %s": "das ist eine ganze Zahl von %s bis %s",
    "this is true or false": "das ist true oder false",
    "this is a text of at most %s characters": "das ist ein Text von höchstens %s Zeichen",
    "this is left, center or right": "das ist left, center oder right",
    "there is no such attribute here": "dieses Attribut gibt es hier nicht",
    "there is no such field here": "dieses Feld gibt es hier nicht",
    "a slice is an object": "ein Ausschnitt ist ein Objekt",
    "a slice is open at as many levels as it has": (
        "ein Ausschnitt ist auf so vielen Ebenen offen, wie er hat"
    ),
    "a slice is open at more levels than it has": (
        "ein Ausschnitt ist auf mehr Ebenen offen, als er hat"
    ),
    "there is no node at this position": "an dieser Stelle ist kein Knoten",
    "a text has no attributes or marks of its own": (
        "ein Text hat keine eigenen Attribute oder Auszeichnungen"
    ),
    "it would overwrite content": "das würde Inhalt überschreiben",
    "the gap is outside of the range": "die Lücke liegt außerhalb des Bereichs",
    "the gap is not flat": "die Lücke ist nicht flach",
    "the content of the gap does not fit": "der Inhalt der Lücke passt nicht",
    "it would cut a character in two": "das würde ein Zeichen zerschneiden",
    "the documents differ from the begin only": "die Dokumente unterscheiden sich nur am Anfang",
    "the difference does not apply": "der Unterschied lässt sich nicht anwenden",
    "the range ends before it begins": "der Bereich endet, bevor er beginnt",
    "the range is not flat": "der Bereich ist nicht flach",
    "the content is deeper than the position where it is inserted": (
        "der Inhalt ist tiefer als die Stelle, an der er eingefügt wird"
    ),
    "the content is open at other levels than the range": (
        "der Inhalt ist auf anderen Ebenen offen als der Bereich"
    ),
}
