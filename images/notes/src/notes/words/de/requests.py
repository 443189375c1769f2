"""German messages about requests themselves: their form, their size, the server's state."""

from typing import Final

MESSAGES: Final = {
    # The server.
    "The request failed; the log of this replica has the reason.": (
        "Die Anfrage ist gescheitert; das Protokoll dieser Replik nennt den Grund."
    ),
    "The database cannot be reached; try again in a moment.": (
        "Die Datenbank ist nicht erreichbar; versuchen Sie es gleich noch einmal."
    ),
    "The database cannot be reached yet; try again in a moment.": (
        "Die Datenbank ist noch nicht erreichbar; versuchen Sie es gleich noch einmal."
    ),
    "The database cannot be reached.": "Die Datenbank ist nicht erreichbar.",
    "This took too long.": "Das hat zu lange gedauert.",
    "A value cannot be stored (does it contain a NUL?).": (
        "Ein Wert kann nicht gespeichert werden (enthält er ein NUL-Zeichen?)."
    ),
    "It has changed in the meantime; reload it.": (
        "Es hat sich inzwischen geändert; laden Sie es neu."
    ),
    "The connection broke while saving: check if it was saved, or retry.": (
        "Die Verbindung brach beim Speichern ab: Sehen Sie nach, ob es gespeichert ist, oder"
        " versuchen Sie es noch einmal."
    ),
    "This replica is stopping; try again.": (
        "Diese Replik wird beendet; versuchen Sie es noch einmal."
    ),
    "The workspace is not built here; `make notes-web` builds it.": (
        "Der Arbeitsbereich ist hier nicht gebaut; `make notes-web` baut ihn."
    ),
    "The server is busy; try again in a moment.": (
        "Der Server ist ausgelastet; versuchen Sie es gleich noch einmal."
    ),
    "The server cannot process this now.": "Der Server kann das gerade nicht bearbeiten.",
    # How much and how often.
    "%s requests from this address are being handled already.": (
        "Es werden schon %s Anfragen dieser Adresse bearbeitet."
    ),
    "%s of your requests are waiting already; try again in a moment.": (
        "Es warten schon %s Ihrer Anfragen; versuchen Sie es gleich noch einmal."
    ),
    "There are %s connections from this address already.": (
        "Es gibt schon %s Verbindungen dieser Adresse."
    ),
    "There are too many connections; try again in a moment.": (
        "Es gibt zu viele Verbindungen; versuchen Sie es gleich noch einmal."
    ),
    "Too many attempts; try again in %s seconds.": (
        "Zu viele Versuche; versuchen Sie es in %s Sekunden noch einmal."
    ),
    "These are too many reports.": "Das sind zu viele Meldungen.",
    "There may be %s cookies.": "Es dürfen %s Cookies sein.",
    "There may be %s parameters.": "Es dürfen %s Parameter sein.",
    "The body is larger than %s bytes (BODY_SIZE_LIMIT).": (
        "Der Inhalt ist größer als %s Byte (BODY_SIZE_LIMIT)."
    ),
    "A JSON body may have at most %s bytes here.": (
        "Ein JSON-Inhalt darf hier höchstens %s Byte haben."
    ),
    "The JSON may have at most %s bytes.": "Das JSON darf höchstens %s Byte haben.",
    "The request's line and headers may have %s bytes and %s fields.": (
        "Die erste Zeile und die Kopfzeilen der Anfrage dürfen %s Byte und %s Felder haben."
    ),
    "The headers did not arrive within %s s.": "Die Kopfzeilen kamen nicht innerhalb von %s s an.",
    "The body arrives at less than %s bytes/s.": "Der Inhalt kommt mit weniger als %s Byte/s an.",
    "The body consists mostly of chunk framing.": (
        "Der Inhalt besteht fast nur aus den Rahmen seiner Teile."
    ),
    "The form is too long.": "Das Formular ist zu lang.",
    # The form of a request.
    "%s is not possible here; %s is.": "%s geht hier nicht; möglich ist %s.",
    "%s is not an id: %s": "%s ist keine ID: %s",
    "%s: is given twice": "%s: steht zweimal da",
    "The body is not JSON: %s": "Der Inhalt ist kein JSON: %s",
    "Send application/json.": "Senden Sie application/json.",
    "Send a form.": "Senden Sie ein Formular.",
    "The form is damaged.": "Das Formular ist beschädigt.",
    "it has too many fields": "es hat zu viele Felder",
    "it is damaged": "beschädigt",
    "has too many levels": "hat zu viele Ebenen",
    "is not JSON (%s)": "ist kein JSON (%s)",
    "This is not a number.": "Das ist keine Zahl.",
    "This is not an id.": "Das ist keine ID.",
    "%s is not the position of an event.": "%s ist nicht die Stelle eines Ereignisses.",
    "Send ids or until.": "Senden Sie ids oder until.",
    "Cross-site %s form submissions are forbidden": (
        "Formulare von anderen Websites (%s) sind verboten"
    ),
    "Cross-site %s requests are forbidden": "Anfragen von anderen Websites (%s) sind verboten",
    # Files and their parts.
    "There is no file in the form.": "Im Formular ist keine Datei.",
    "The form's content type has no boundary.": "Der Medientyp des Formulars hat keine Grenze.",
    "The form ends too early.": "Das Formular endet zu früh.",
    "A form has at most %s parts.": "Ein Formular hat höchstens %s Teile.",
    "The headers of a part of the form are too long.": (
        "Die Kopfzeilen eines Teils des Formulars sind zu lang."
    ),
    "A field of the form is too long.": "Ein Feld des Formulars ist zu lang.",
    "Send one file at a time.": "Senden Sie eine Datei nach der anderen.",
    "Send JSON, an octet-stream or a form with a file.": (
        "Senden Sie JSON, einen octet-stream oder ein Formular mit einer Datei."
    ),
    "Send JSON or an octet-stream.": "Senden Sie JSON oder einen octet-stream.",
    "A file may have at most %s bytes (MAX_ATTACHMENT_MB).": (
        "Eine Datei darf höchstens %s Byte haben (MAX_ATTACHMENT_MB)."
    ),
    "The file is larger than %s bytes.": "Die Datei ist größer als %s Byte.",
    "The file has %s bytes.": "Die Datei hat %s Byte.",
    "Upload-Key is not a UUID.": "Upload-Key ist keine UUID.",
    "Upload-Chunk is not a number from 0.": "Upload-Chunk ist keine Zahl ab 0.",
    "Upload-Id is not the id of an upload.": "Upload-Id ist nicht die ID eines Uploads.",
    "The description of an upload may have at most 65536 bytes.": (
        "Die Beschreibung eines Uploads darf höchstens 65536 Byte haben."
    ),
    "A checksum is sha256=<64 digits>.": "Eine Prüfsumme ist sha256=<64 Ziffern>.",
    "The chunk arrived damaged; send it again.": (
        "Der Teil kam beschädigt an; senden Sie ihn noch einmal."
    ),
    "A chunk has at most %s bytes.": "Ein Teil hat höchstens %s Byte.",
    "Chunk %s is stored with other content.": "Teil %s ist mit anderem Inhalt gespeichert.",
    "There are %s chunks, from 0.": "Es gibt %s Teile, ab 0.",
    "This chunk has %s bytes; %s arrived.": "Dieser Teil hat %s Byte; %s kamen an.",
    "The upload has %s missing chunks; send them first.": (
        "Dem Upload fehlen %s Teile; senden Sie sie zuerst."
    ),
    "The file's checksum is not the announced one; abort the upload and begin again.": (
        "Die Prüfsumme der Datei ist nicht die angekündigte; brechen Sie den Upload ab und"
        " beginnen Sie neu."
    ),
    "The zip's checksum is not the announced one; begin again.": (
        "Die Prüfsumme des Zips ist nicht die angekündigte; beginnen Sie neu."
    ),
    "it differs": "weicht ab",
    "This upload has expired; begin again.": "Dieser Upload ist abgelaufen; beginnen Sie neu.",
    # Values that do not match their type.
    "Expected `%s`, got `%s`": "Erwartet ist `%s`, da steht `%s`",
    "Expected `array` of length %s to %s, got %s": (
        "Erwartet ist eine Liste von %s bis %s, da stehen %s"
    ),
    "Expected `array` of length <= %s": "Höchstens %s Einträge",
    "Expected `array` of length >= %s": "Mindestens %s Einträge",
    "Expected `object` of length <= %s": "Höchstens %s Felder",
    "Expected `object` of length >= %s": "Mindestens %s Felder",
    "Expected `str` of length <= %s": "Höchstens %s Zeichen",
    "Expected `str` of length >= %s": "Mindestens %s Zeichen",
    "Expected `str` matching regex %s": "Erwartet ist ein Text der Form %s",
    "Expected `int` <= %s": "Höchstens %s",
    "Expected `int` >= %s": "Mindestens %s",
    "Expected `float` <= %s": "Höchstens %s",
    "Expected `float` >= %s": "Mindestens %s",
    "Expected `datetime` with a timezone component": "Die Zeitzone fehlt",
    "Invalid UUID": "Das ist keine ID",
    "Invalid RFC3339 encoded datetime": "Das ist kein Zeitpunkt nach RFC 3339",
    "Invalid enum value %s": "Der Wert %s ist nicht erlaubt",
    "Invalid value %s": "Der Wert %s ist nicht erlaubt",
    "Integer value out of range": "Die Zahl ist zu groß oder zu klein",
    "Number out of range": "Die Zahl ist zu groß oder zu klein",
    "Object missing required field `%s`": "Das Feld `%s` fehlt",
    "Object contains unknown field `%s`": "Ein Feld `%s` gibt es nicht",
    "Input data was truncated": "die Daten enden zu früh",
    "JSON is malformed: %s (byte %s)": "fehlerhaftes JSON: %s (Byte %s)",
    "Invalid base64 encoded string": "Das ist kein Base64",
}
