"""German messages about jobs, and the remarks in the report of an import."""

from typing import Final

MESSAGES: Final = {
    # Jobs.
    "The preview is not done.": "Die Vorschau ist nicht fertig.",
    "The job is done; there is nothing to cancel.": (
        "Der Auftrag ist fertig; es gibt nichts abzubrechen."
    ),
    "The job failed; the log of the replica has the reason.": (
        "Der Auftrag ist gescheitert; das Protokoll der Replik nennt den Grund."
    ),
    "The job was given up after %s replicas died at it; split the zip, or ask an administrator.": (
        "Der Auftrag wurde aufgegeben, nachdem %s Repliken daran gestorben sind; teilen Sie das"
        " Zip, oder fragen Sie einen Administrator."
    ),
    "your imports: %s wait, run, or are previews; wait for one, or cancel one.": (
        "Ihre Importe: %s warten, laufen oder sind Vorschauen; warten Sie auf einen, oder brechen"
        " Sie einen ab."
    ),
    "This version knows no job of the kind %s.": "Diese Version kennt keinen Auftrag der Art %s.",
    "Another job has this upload; upload the zip again.": (
        "Ein anderer Auftrag hat diesen Upload; laden Sie das Zip noch einmal hoch."
    ),
    "An import reads this upload; cancel the job.": (
        "Ein Import liest diesen Upload; brechen Sie den Auftrag ab."
    ),
    "Name an attachment or an upload.": "Nennen Sie eine Datei oder einen Upload.",
    "Send a zip.": "Senden Sie ein Zip.",
    "queued": "wartet",
    "running": "läuft",
    "done": "fertig",
    "failed": "gescheitert",
    "import": "Import",
    "import-preview": "Vorschau eines Imports",
    "page": "Seite",
    "file": "Datei",
    "left out": "ausgelassen",
    "an export of this application": "ein Export dieser Anwendung",
    "an Obsidian vault": "eine Sammlung von Obsidian",
    "a Notion export": "ein Export von Notion",
    "an Outline export": "ein Export von Outline",
    "an Outline export (JSON)": "ein Export von Outline (JSON)",
    "a BookStack export": "ein Export von BookStack",
    "Markdown and files": "Markdown mit Dateien",
    # The zip.
    "This is not a zip file, or a damaged one.": "Das ist kein Zip, oder ein beschädigtes.",
    "The zip's entries overlap.": "Die Einträge des Zips überlappen sich.",
    "The zip unpacks to far more than its size.": (
        "Das Zip wird beim Entpacken viel größer, als es sein dürfte."
    ),
    "The zip unpacks to more than %s bytes; split it.": (
        "Das Zip hat entpackt mehr als %s Byte; teilen Sie es."
    ),
    "The zip has more than %s entries; split it.": (
        "Das Zip hat mehr als %s Einträge; teilen Sie es."
    ),
    "The zip makes more than %s pages; split it.": (
        "Aus dem Zip werden mehr als %s Seiten; teilen Sie es."
    ),
    "The zip has too many long paths; split it.": (
        "Das Zip hat zu viele lange Pfade; teilen Sie es."
    ),
    "The zip's directory is larger than %s bytes; split it.": (
        "Das Verzeichnis des Zips ist größer als %s Byte; teilen Sie es."
    ),
    "The uploaded zip was deleted.": "Das hochgeladene Zip wurde gelöscht.",
    "The database's disk is full; nothing was imported.": (
        "Die Festplatte der Datenbank ist voll; nichts wurde importiert."
    ),
    "Its pages take too long to read; split the zip.": (
        "Die Seiten zu lesen dauert zu lange; teilen Sie das Zip."
    ),
    "The account that started the import is disabled or deleted.": (
        "Das Konto, das den Import begonnen hat, ist gesperrt oder gelöscht."
    ),
    "You may no longer create pages in this space.": (
        "Sie dürfen in diesem Bereich keine Seiten mehr anlegen."
    ),
    "You may no longer create pages below that page.": (
        "Sie dürfen unter dieser Seite keine Seiten mehr anlegen."
    ),
    "The page to import below is in the trash or deleted.": (
        "Die Seite, unter die importiert werden soll, ist im Papierkorb oder gelöscht."
    ),
    "You may not change some of the pages of the earlier import; import a copy.": (
        "Sie dürfen einige Seiten des früheren Imports nicht ändern; importieren Sie eine Kopie."
    ),
    "%s: the zip is damaged here.": "%s: Hier ist das Zip beschädigt.",
    "%s: it is damaged.": "%s: beschädigt.",
    "%s: it is too large.": "%s: zu groß.",
    "%s: it has more than %s items.": "%s: mehr als %s Einträge.",
    "%s: it is larger than %s bytes.": "%s: größer als %s Byte.",
    "%s: it is damaged, or has an unknown form.": "%s: beschädigt, oder von unbekannter Form.",
    "data.json: it has no book, chapter or page.": (
        "data.json: kein Buch, kein Kapitel, keine Seite."
    ),
    # Entries of the zip.
    "its name is too long": "der Name ist zu lang",
    "it has no name": "kein Name",
    "it lies more than %s folders deep": "liegt mehr als %s Ordner tief",
    "its name was read as code page 437": "der Name wurde als Codepage 437 gelesen",
    "the drive was removed from its name": "das Laufwerk wurde aus dem Namen entfernt",
    "its absolute name was made relative": "der absolute Name wurde relativ",
    "'..' in its name was resolved": "„..“ im Namen wurde aufgelöst",
    "another file of the zip has the same name": "eine andere Datei des Zips hat denselben Namen",
    "it is a file of the operating system or an editor": (
        "eine Datei des Betriebssystems oder eines Editors"
    ),
    "it is a link, not a file": "eine Verknüpfung, keine Datei",
    "it is encrypted": "verschlüsselt",
    "it is compressed in an unusual way": "auf ungewöhnliche Weise gepackt",
    "it is larger than %s bytes": "größer als %s Byte",
    "it only describes the export": "beschreibt nur den Export",
    "it only lists the pages, like the tree": "nur eine Liste der Seiten, wie der Seitenbaum",
    "its rows are among those of the same name with _all": (
        "die Zeilen stehen in der gleichnamigen Datei mit _all"
    ),
    # Pages.
    "it was attached as a file: %s": "als Datei angehängt: %s",
    "the whole file is attached": "die ganze Datei ist angehängt",
    "it has more than %s bytes": "mehr als %s Byte",
    "it has more than %s characters": "mehr als %s Zeichen",
    "it has more than %s tags": "mehr als %s Tags",
    "it is too long": "zu lang",
    "it is nested too deeply": "zu tief verschachtelt",
    "the parser cannot read it as HTML": "als HTML nicht lesbar",
    "it is not readable as CSV (%s)": "als CSV nicht lesbar (%s)",
    "its document is damaged": "das Dokument ist beschädigt",
    "it is not UTF-8 and was read as Windows-1252": (
        "nicht in UTF-8, wurde als Windows-1252 gelesen"
    ),
    "it was read as UTF-16": "wurde als UTF-16 gelesen",
    "blocks that were nested too deeply were flattened": (
        "zu tief verschachtelte Blöcke wurden flacher"
    ),
    "links and pictures with addresses that could run code became text": (
        "Links und Bilder, deren Adressen Code ausführen könnten, wurden Text"
    ),
    "links without a target in the zip stay unchanged: %s and %s more": (
        "Links ohne Ziel im Zip bleiben unverändert: %s und %s weitere"
    ),
    "links without a target in the zip stay unchanged: %s": (
        "Links ohne Ziel im Zip bleiben unverändert: %s"
    ),
    "pictures written into the text became files": "Bilder im Text wurden Dateien",
    "callouts became quotes": "Hinweiskästen wurden Zitate",
    "notices became quotes": "Hinweise wurden Zitate",
    "names of blocks (^…) were left out": "Namen von Blöcken (^…) wurden ausgelassen",
    "sizes of pictures were left out": "Bildgrößen wurden ausgelassen",
    "embedded notes and files became links": "eingebettete Notizen und Dateien wurden Links",
    "the table shows %s of %s rows": "die Tabelle zeigt %s von %s Zeilen",
    "the table shows at most %s columns": "die Tabelle zeigt höchstens %s Spalten",
    "its properties became a table": "die Eigenschaften wurden eine Tabelle",
    "its properties stay as they are written: %s": (
        "die Eigenschaften bleiben, wie sie dastehen: %s"
    ),
    "it has too many values": "zu viele Werte",
    "it is not YAML": "kein YAML",
    "it has aliases": "mit Verweisen (Aliasen)",
    "it is not a list of properties": "keine Liste von Eigenschaften",
    "a property's name is not a text": "der Name einer Eigenschaft ist kein Text",
}
