"""German words of the plain pages for reading, and of those that everybody sees."""

from typing import Final

WORDS: Final = {
    "%s bytes": "%s Byte",
    "%s has invited you. The invitation holds until %s, and can be accepted once.": (
        "%s hat Sie eingeladen. Die Einladung gilt bis %s und kann einmal angenommen werden."
    ),
    "%s pages have changes or files that the server does not have yet."
    " They are on this device only.": "%s Seiten haben Änderungen oder Dateien, die der Server noch"
    " nicht hat. Sie sind nur auf diesem Gerät.",
    "A file of up to 64 MB": "Eine Datei bis 64 MB",
    "A password of at least 10 characters": "Ein Passwort mit mindestens 10 Zeichen",
    "A zip of Markdown or HTML and files, or an export of Obsidian, Notion, Outline or BookStack": (
        "Ein Zip mit Markdown oder HTML und Dateien, oder ein Export aus Obsidian, Notion, Outline"
        " oder BookStack"
    ),
    "All pages below %s": "Alle Seiten unter %s",
    "All pages that link here": "Alle Seiten, die hierher verweisen",
    "An administrator has not approved %s yet; until then it is not served.": (
        "Die Verwaltung hat %s noch nicht bestätigt; bis dahin wird die Domain nicht bedient."
    ),
    "Anybody may read, without an account": "Alle dürfen lesen, auch ohne Konto",
    "Bad request": "Ungültige Anfrage",
    "Below": "Unter",
    "Below the page with the id (may be empty)": "Unter der Seite mit der ID (darf leer sein)",
    "Below this page": "Unter dieser Seite",
    "Changed last": "Zuletzt geändert",
    "Choose a password of 10 to 1000 characters.": (
        "Wählen Sie ein Passwort mit 10 bis 1000 Zeichen."
    ),
    "Comment": "Kommentieren",
    "Comment of %s": "Kommentar von %s",
    "Comments": "Kommentare",
    "Conflict": "Konflikt",
    "Content too large": "Inhalt zu groß",
    "Contents": "Inhalt",
    "Create a link": "Link anlegen",
    "Create the page": "Seite anlegen",
    "Create the space": "Bereich anlegen",
    "Description": "Beschreibung",
    "Domain": "Domain",
    "E-mail address": "E-Mail-Adresse",
    "Earlier pages": "Frühere Seiten",
    "Edit": "Bearbeiten",
    "Error": "Fehler",
    "Everybody with an account may": "Wer ein Konto hat, darf",
    "Export": "Export",
    "Export as zip": "Export als Zip",
    "Favourite": "Zu den Favoriten",
    "Favourites": "Favoriten",
    "Files": "Dateien",
    "Forbidden": "Nicht erlaubt",
    "Found for “%s”": "Gefunden für „%s“",
    "From the template": "Aus der Vorlage",
    "From the template with the id (may be empty)": "Aus der Vorlage mit der ID (darf leer sein)",
    "Go to the front page": "Zur Startseite",
    "Gone": "Nicht mehr da",
    "History": "Verlauf",
    "Holds %s of %s, %s of %s pages": "Belegt %s von %s, %s von %s Seiten",
    "Import": "Importieren",
    "Import again as a copy": "Noch einmal als Kopie importieren",
    "Import and replace this zip's former pages": (
        "Importieren und die früheren Seiten dieses Zips ersetzen"
    ),
    "Include the pages below": "Mit den Seiten darunter",
    "Invitation": "Einladung",
    "It was accepted, revoked or replaced, its time is over, or the link is not complete. "
    "If you have accepted it, sign in. If not, ask for another one where you got it from.": (
        "Sie wurde angenommen, zurückgezogen oder ersetzt, ihre Zeit ist um, oder der Link "
        "ist nicht vollständig. Wenn Sie sie angenommen haben, melden Sie sich an. Wenn "
        "nicht, bitten Sie dort um eine neue, wo Sie diese bekommen haben."
    ),
    "Later pages": "Spätere Seiten",
    "Length required": "Länge fehlt",
    "Linked from": "Verweise hierher",
    "Links for others": "Links für andere",
    "Main": "Hauptnavigation",
    "Make the account": "Konto anlegen",
    "Method not allowed": "Methode nicht erlaubt",
    "Move": "Verschieben",
    "Move to the trash": "In den Papierkorb",
    "Name": "Name",
    "New page": "Neue Seite",
    "New page below": "Neue Seite darunter",
    "New space": "Neuer Bereich",
    "Next: %s": "Weiter: %s",
    "No page links here.": "Keine Seite verweist hierher.",
    "No page was found.": "Es wurde keine Seite gefunden.",
    "Not found": "Nicht gefunden",
    "Not signed in": "Nicht angemeldet",
    "One page has changes or files that the server does not have yet."
    " They are on this device only.": "Eine Seite hat Änderungen oder Dateien, die der Server noch"
    " nicht hat. Sie sind nur auf diesem Gerät.",
    "Open": "Öffnen",
    "Open the workspace, which sends them": "Den Arbeitsbereich öffnen, der sie sendet",
    "Pages": "Seiten",
    "Pages below %s": "Seiten unter %s",
    "Pages that a team writes together": "Seiten, die ein Team gemeinsam schreibt",
    "Pages that link to %s": "Seiten, die auf %s verweisen",
    "Parts of the list": "Teile der Liste",
    "Password": "Passwort",
    "Password (may be empty)": "Passwort (darf leer sein)",
    "Path": "Pfad",
    "Precondition failed": "Bedingung nicht erfüllt",
    "Previous and next page": "Vorige und nächste Seite",
    "Previous: %s": "Zurück: %s",
    "QR code of the link created %s": "QR-Code des Links vom %s",
    "Range not satisfiable": "Bereich der Datei nicht vorhanden",
    "Remove from favourites": "Aus den Favoriten entfernen",
    "Request header fields too large": "Kopfzeilen der Anfrage zu groß",
    "Request timeout": "Zeitüberschreitung",
    "Resolve the comment of %s": "Kommentar von %s erledigen",
    "Restore it": "Wiederherstellen",
    "Revoke the link created %s": "Link vom %s beenden",
    "Save the settings": "Einstellungen speichern",
    "Search": "Suche",
    "Serve a site at the domain": "An der Domain eine Website zeigen",
    "Service unavailable": "Zurzeit nicht erreichbar",
    "Settings": "Einstellungen",
    "Settings of the space": "Einstellungen des Bereichs",
    "Short name for URLs (a-z, 0-9, -)": "Kurzname für Adressen (a-z, 0-9, -)",
    "Sign in": "Anmelden",
    "Sign in with your organisation": "Mit Ihrer Organisation anmelden",
    "Sign out": "Abmelden",
    "Sign out %s": "%s abmelden",
    "Sign out and delete them": "Abmelden und sie löschen",
    "Sign out and keep them on this device": "Abmelden und sie auf diesem Gerät behalten",
    "Sign out?": "Abmelden?",
    "Skip to the content": "Zum Inhalt springen",
    "Spaces": "Bereiche",
    "The e-mail address or the password is wrong.": (
        "Die E-Mail-Adresse oder das Passwort ist falsch."
    ),
    "The password is wrong.": "Das Passwort ist falsch.",
    "There is an account with this e-mail address already. Sign in, or ask an "
    "administrator for a new password.": (
        "Ein Konto mit dieser E-Mail-Adresse gibt es schon. Melden Sie sich an, oder bitten "
        "Sie die Verwaltung um ein neues Passwort."
    ),
    "There is no page here.": "Hier ist keine Seite.",
    "There is no page yet.": "Es gibt noch keine Seite.",
    "There is no space yet.": "Es gibt noch keinen Bereich.",
    "There is no such address on this site.": "Diese Adresse gibt es auf dieser Website nicht.",
    "There is no such file.": "Diese Datei gibt es nicht.",
    "There is no such link.": "Diesen Link gibt es nicht.",
    "There is no such page.": "Diese Seite gibt es nicht.",
    "There is no such space.": "Diesen Bereich gibt es nicht.",
    "There is nothing at this address.": "An dieser Adresse ist nichts.",
    "This account is disabled.": "Dieses Konto ist gesperrt.",
    "This invitation does not hold": "Diese Einladung gilt nicht",
    "This link has a password": "Dieser Link hat ein Passwort",
    "This page is in the trash.": "Diese Seite ist im Papierkorb.",
    "Title": "Titel",
    "Too many requests": "Zu viele Anfragen",
    "Trash": "Papierkorb",
    "Type a name of 1 to 120 characters, in one line.": (
        "Geben Sie einen Namen mit 1 bis 120 Zeichen in einer Zeile ein."
    ),
    "Unprocessable content": "Nicht verwendbarer Inhalt",
    "Unsupported media type": "Nicht unterstützter Medientyp",
    "Upload": "Hochladen",
    "Version %s, %s": "Fassung %s, %s",
    "Workspace": "Arbeitsbereich",
    "You are signed in as %s. If you accept, you are signed out there, and in with the "
    "new account.": (
        "Sie sind als %s angemeldet. Wenn Sie annehmen, werden Sie dort abgemeldet und mit "
        "dem neuen Konto angemeldet."
    ),
    "Your account for %s": "Ihr Konto für %s",
    "Your comment": "Ihr Kommentar",
    "Your name": "Ihr Name",
    "comment": "kommentieren",
    "imported": "importiert",
    "no longer valid": "nicht mehr gültig",
    "none": "keine",
    "not see it": "ihn nicht sehen",
    "password": "Passwort",
    "read": "lesen",
    "resolved": "erledigt",
    "restricted": "eingeschränkt",
    "somebody": "jemand",
    "template": "Vorlage",
    "top": "oben",
    "with comments and versions": "mit Kommentaren und Fassungen",
    "write": "schreiben",
}
