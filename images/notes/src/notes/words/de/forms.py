"""German words of the plain pages for those who write, administer and set up."""

from typing import Final

WORDS: Final = {
    # Dates and numbers.
    "%Y-%m-%d %H:%M UTC": "%d.%m.%Y, %H:%M UTC",
    "never": "nie",
    # Versions.
    "History of %s": "Verlauf von %s",
    "Versions": "Fassungen",
    "Version": "Fassung",
    "Who": "Wer",
    "When": "Wann",
    "Compare": "Vergleichen",
    "Go back": "Zurückgehen",
    "Go back to %s": "Zurück zu %s",
    "from %s": "aus %s",
    "Changes of %s": "Änderungen von %s",
    "Changes from %s to %s": "Änderungen von %s zu %s",
    "Changes from": "Änderungen von",
    "Changes to": "Änderungen bis",
    "Compare two versions": "Zwei Fassungen vergleichen",
    "Newest versions": "Neueste Fassungen",
    "Older versions": "Ältere Fassungen",
    "Show the changes": "Änderungen zeigen",
    # Writing and moving.
    "Edit %s": "%s bearbeiten",
    "Another user has saved this page in the meantime. Your text is below and not lost; copy what"
    " you need from their version, and save again.": (
        "Jemand anders hat diese Seite inzwischen gespeichert. Ihr Text steht unten und ist nicht"
        " verloren; übernehmen Sie, was Sie aus der anderen Fassung brauchen, und speichern Sie"
        " noch einmal."
    ),
    "Their version: %s": "Die andere Fassung: %s",
    "Text, in Markdown": "Text, in Markdown",
    "Save": "Speichern",
    "Cancel": "Abbrechen",
    "Move %s": "%s verschieben",
    "To the place below %s": "An den Platz unter %s",
    "To the top level": "Auf die oberste Ebene",
    "To the top level of %s": "Auf die oberste Ebene von %s",
    "One level up": "Eine Ebene höher",
    "Behind": "Hinter",
    "first": "zuerst",
    "Move here": "Hierher verschieben",
    "You may not move pages to this place.": "An diesen Platz dürfen Sie keine Seiten verschieben.",
    "Other places": "Andere Plätze",
    "Choose a page to move below it.": "Wählen Sie eine Seite, um unter sie zu verschieben.",
    "There is no other page here.": "Hier ist keine andere Seite.",
    "Trash of %s": "Papierkorb von %s",
    "A page is deleted after 30 days in the trash.": (
        "Eine Seite wird nach 30 Tagen im Papierkorb gelöscht."
    ),
    "Restore %s": "%s wiederherstellen",
    "The trash is empty.": "Der Papierkorb ist leer.",
    # An import.
    "Import of a zip": "Import eines Zips",
    "It is waiting.": "Er wartet.",
    "It is being read.": "Er wird gelesen.",
    "Pages: %s of %s, files: %s of %s. Nothing is visible until all of it is.": (
        "Seiten: %s von %s, Dateien: %s von %s. Sichtbar wird alles auf einmal."
    ),
    "Look again": "Noch einmal nachsehen",
    "Nothing was imported.": "Nichts wurde importiert.",
    "This zip has been imported here before, and its pages still exist: nothing was imported.": (
        "Dieses Zip wurde hier schon importiert, und seine Seiten sind noch da: Nichts wurde"
        " importiert."
    ),
    "That import": "Jener Import",
    "It is done, without a report.": "Er ist fertig, ohne Bericht.",
    "Imported from: %s. Pages: %s, files: %s, changed: %s, left out: %s.": (
        "Importiert aus: %s. Seiten: %s, Dateien: %s, geändert: %s, ausgelassen: %s."
    ),
    "Changed or left out": "Geändert oder ausgelassen",
    "File in the zip": "Datei im Zip",
    "Became": "Wurde",
    "Remarks": "Bemerkungen",
    "There are more:": "Es gibt mehr:",
    "the next ones": "die nächsten",
    "The whole report as JSON": "Der ganze Bericht als JSON",
    # Settings.
    "You": "Sie",
    "Current password": "Bisheriges Passwort",
    "New password": "Neues Passwort",
    "You use %s of %s, %s of %s pages and %s of %s spaces.": (
        "Sie belegen %s von %s, %s von %s Seiten und %s von %s Bereichen."
    ),
    "API tokens": "Schlüssel für die API",
    "The new token, shown only now:": "Der neue Schlüssel, nur jetzt zu sehen:",
    "may read": "darf lesen",
    "may change data": "darf Daten ändern",
    "may administer": "darf verwalten",
    "last used: %s": "zuletzt benutzt: %s",
    "Revoke %s": "%s beenden",
    "Name of the token": "Name des Schlüssels",
    "May change data": "Darf Daten ändern",
    "Create a token": "Schlüssel erstellen",
    "Imports": "Importe",
    "People": "Personen",
    "administrator": "Verwaltung",
    "disabled": "gesperrt",
    "Name of the person": "Name der Person",
    "E-mail address of the person": "E-Mail-Adresse der Person",
    "First password of the person": "Erstes Passwort der Person",
    "Administrator": "Verwaltung",
    "Add the person": "Person hinzufügen",
    "Domains of spaces": "Domains von Bereichen",
    "%s for %s": "%s für %s",
    "claimed by %s": "beantragt von %s",
    "waits for approval": "noch nicht bestätigt",
    "Approve %s for %s": "%s für %s bestätigen",
    "Withdraw the approval of %s for %s": "Bestätigung von %s für %s zurücknehmen",
    "Limits": "Grenzen",
    "Bytes of an account": "Byte eines Kontos",
    "Pages of an account": "Seiten eines Kontos",
    "Spaces of an account": "Bereiche eines Kontos",
    "Bytes of a space": "Byte eines Bereichs",
    "Pages of a space": "Seiten eines Bereichs",
    "Save the limits": "Grenzen speichern",
    "Version %s": "Version %s",
    # The first setup.
    "Set up": "Einrichten",
    "Welcome": "Willkommen",
    "This is a new installation. Create the first administrator's account; this is possible only"
    " once.": (
        "Das ist eine neue Installation. Legen Sie das erste Konto der Verwaltung an; das geht nur"
        " einmal."
    ),
    "Name of the site": "Name der Website",
    "Your e-mail address": "Ihre E-Mail-Adresse",
    "A space with a tour, to try everything out": (
        "Ein Bereich mit einem Rundgang, um alles auszuprobieren"
    ),
    "No tour": "Kein Rundgang",
    # The installed application.
    "The workspace of your team": "Der Arbeitsbereich Ihres Teams",
    "The plain page": "Die einfache Seite",
}
