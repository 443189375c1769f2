"""German messages about accounts, spaces, pages and comments."""

from typing import Final

MESSAGES: Final = {
    # What is not there, or not for this person.
    "There is no such %s.": "So etwas gibt es nicht: %s.",
    "There is no such address on this site.": "Diese Adresse gibt es auf dieser Website nicht.",
    "There is no such attachment.": "Diese Datei gibt es nicht.",
    "There is no such comment.": "Diesen Kommentar gibt es nicht.",
    "There is no such edit.": "Diese Änderung gibt es nicht.",
    "There is no such file.": "Diese Datei gibt es nicht.",
    "There is no such group.": "Diese Gruppe gibt es nicht.",
    "There is no such import.": "Diesen Import gibt es nicht.",
    "There is no such installation.": "Diese Installation gibt es nicht.",
    "There is no such invitation.": "Diese Einladung gibt es nicht mehr.",
    "There is no such job.": "Diesen Auftrag gibt es nicht.",
    "There is no such link.": "Diesen Link gibt es nicht.",
    "There is no such logo.": "Dieses Logo gibt es nicht.",
    "There is no such page.": "Diese Seite gibt es nicht.",
    "There is no such page at the top of the trash.": (
        "Oben im Papierkorb gibt es diese Seite nicht."
    ),
    "There is no such person.": "Diese Person gibt es nicht.",
    "There is no such session.": "Diese Sitzung gibt es nicht.",
    "There is no such site.": "Diese Website gibt es nicht.",
    "There is no such space.": "Diesen Bereich gibt es nicht.",
    "There is no such token.": "Diesen Schlüssel gibt es nicht.",
    "There is no such trial.": "Diesen Versuch gibt es nicht.",
    "There is no such upload.": "Diesen Upload gibt es nicht.",
    "There is no such version.": "Diese Fassung gibt es nicht.",
    "There is nothing at this address.": "An dieser Adresse ist nichts.",
    "That was deleted since.": "Das ist inzwischen gelöscht.",
    "This needs the role %s on the page.": "Dafür brauchen Sie auf der Seite die Rolle „%s“.",
    "This needs the role %s in the space.": "Dafür brauchen Sie im Bereich die Rolle „%s“.",
    "This needs the role %s on the page and every page below it.": (
        "Dafür brauchen Sie auf der Seite und allen Seiten darunter die Rolle „%s“."
    ),
    "viewer": "Liest",
    "commenter": "Kommentiert",
    "editor": "Schreibt",
    "manager": "Verwaltet",
    # Signing in.
    "Sign in first.": "Melden Sie sich zuerst an.",
    "Sign in, or send a token.": "Melden Sie sich an, oder senden Sie einen Schlüssel.",
    "Sign in to see this file.": "Melden Sie sich an, um diese Datei zu sehen.",
    "The token is unknown, expired or revoked.": (
        "Der Schlüssel ist unbekannt, abgelaufen oder beendet."
    ),
    "The token has been revoked.": "Der Schlüssel ist beendet.",
    "This needs the scope %s.": "Dafür braucht der Schlüssel das Recht %s.",
    "You cannot pass on the scope %s.": "Das Recht %s können Sie nicht weitergeben.",
    "It would expire later than its creating token.": (
        "Er liefe später ab als der Schlüssel, mit dem er erstellt wird."
    ),
    "The date is too far away.": "Das Datum liegt zu weit entfernt.",
    "The e-mail address or the password is wrong.": (
        "Die E-Mail-Adresse oder das Passwort ist falsch."
    ),
    "The current password is wrong.": "Das bisherige Passwort ist falsch.",
    "This account is disabled.": "Dieses Konto ist gesperrt.",
    "There is a demo space already.": "Es gibt schon einen Rundgang.",
    "The setup has been done already; sign in.": (
        "Die Einrichtung ist schon erledigt; melden Sie sich an."
    ),
    # Single sign-on.
    "Single sign-on is not set up here.": "Das Single Sign-on ist hier nicht eingerichtet.",
    "The sign-on failed: %s. Begin again.": (
        "Die Anmeldung ist gescheitert: %s. Beginnen Sie noch einmal."
    ),
    "it came back to another address than it left from": (
        "sie kam an einer anderen Adresse zurück, als sie begann"
    ),
    "the identity provider refused it": "der Anbieter hat sie abgelehnt",
    "the identity provider does not accept it": "der Anbieter nimmt sie nicht an",
    "it comes from another issuer": "sie kommt von einem anderen Aussteller",
    "it is unknown, was used before or took too long": (
        "sie ist unbekannt, schon benutzt oder hat zu lange gedauert"
    ),
    "it was begun in another browser": "sie wurde in einem anderen Browser begonnen",
    "it was begun with another key": "sie wurde mit einem anderen Schlüssel begonnen",
    "its token has no valid signature": "ihr Token hat keine gültige Unterschrift",
    "its token is not for this sign-on": "ihr Token ist nicht für diese Anmeldung",
    "its token comes from another issuer": "ihr Token kommt von einem anderen Aussteller",
    "its token is for another client": "ihr Token ist für einen anderen Client",
    "its token was issued to another client": (
        "ihr Token wurde für einen anderen Client ausgestellt"
    ),
    "its token has expired": "ihr Token ist abgelaufen",
    "its token was issued in the future": "ihr Token ist in der Zukunft ausgestellt",
    "its token is not valid yet": "ihr Token gilt noch nicht",
    "its token belongs to another sign-on": "ihr Token gehört zu einer anderen Anmeldung",
    "its token names no subject": "ihr Token nennt keine Person",
    "its tokens do not belong together": "ihre Token gehören nicht zusammen",
    "a trial needs the administrator who began it": (
        "einen Versuch beendet, wer ihn in der Verwaltung begonnen hat"
    ),
    "The identity provider cannot be reached.": "Der Anbieter ist nicht erreichbar.",
    "The identity provider answered with a server error.": (
        "Der Anbieter hat mit einem Fehler seines Servers geantwortet."
    ),
    "The identity provider's answer is too large.": "Die Antwort des Anbieters ist zu groß.",
    "The identity provider's answer is not a JSON object.": (
        "Die Antwort des Anbieters ist kein JSON-Objekt."
    ),
    "The identity provider's keys cannot be read.": (
        "Die Schlüssel des Anbieters können nicht gelesen werden."
    ),
    "The identity provider's configuration lacks endpoints.": (
        "In den Angaben des Anbieters fehlen Adressen."
    ),
    "The identity provider names another issuer than the configured one.": (
        "Der Anbieter nennt einen anderen Aussteller als den eingestellten."
    ),
    "An account with this e-mail address exists, and the identity provider does not confirm"
    " that the address is yours.": (
        "Ein Konto mit dieser E-Mail-Adresse gibt es schon, und der Anbieter bestätigt nicht,"
        " dass die Adresse Ihre ist."
    ),
    "The provider does not confirm the e-mail address of an existing account.": (
        "Der Anbieter bestätigt die E-Mail-Adresse eines vorhandenen Kontos nicht."
    ),
    "An admin group needs a groups claim.": (
        "Eine Gruppe der Verwaltung braucht eine Angabe mit den Gruppen."
    ),
    "Another issuer or client needs its secret.": (
        "Ein anderer Aussteller oder Client braucht sein Geheimnis."
    ),
    "The OIDC_ variables of the environment set the identity provider.": (
        "Die Variablen OIDC_… der Umgebung legen den Anbieter fest."
    ),
    "A trial begins at %s; open it there.": "Ein Versuch beginnt bei %s; öffnen Sie ihn dort.",
    "The trial has not succeeded; sign on by it first.": (
        "Der Versuch ist nicht gelungen; melden Sie sich zuerst damit an."
    ),
    # People, groups, invitations.
    "Another account has this e-mail address.": "Ein anderes Konto hat diese E-Mail-Adresse.",
    "One administrator has to remain.": "Eine Person muss die Verwaltung behalten.",
    "A group with this name exists.": "Eine Gruppe mit diesem Namen gibt es schon.",
    "There is no user with the id %s.": "Ein Konto mit der ID %s gibt es nicht.",
    "There is no %s %s.": "Das gibt es nicht: %s %s.",
    "user": "Konto",
    "group": "Gruppe",
    "space": "Bereich",
    "A user or group is listed twice.": "Eine Person oder Gruppe steht zweimal da.",
    "A space or a group is listed twice.": "Ein Bereich oder eine Gruppe steht zweimal da.",
    "A %s is gone; reload the page and choose again.": (
        "Das gibt es nicht mehr: %s. Laden Sie die Seite neu und wählen Sie noch einmal."
    ),
    "A space is gone; reload the page and choose again.": (
        "Einen Bereich gibt es nicht mehr; laden Sie die Seite neu und wählen Sie noch einmal."
    ),
    "A group is gone; reload the page and choose again.": (
        "Eine Gruppe gibt es nicht mehr; laden Sie die Seite neu und wählen Sie noch einmal."
    ),
    "This invitation was accepted; disable the account instead.": (
        "Diese Einladung ist angenommen; sperren Sie stattdessen das Konto."
    ),
    "This invitation does not hold.": "Diese Einladung gilt nicht.",
    "There is an account with this e-mail address already.": (
        "Ein Konto mit dieser E-Mail-Adresse gibt es schon."
    ),
    "Type at least %s letters of the name.": "Tippen Sie mindestens %s Buchstaben des Namens.",
    "Only administrators see the jobs of everybody, on the main site.": (
        "Die Aufträge aller sieht nur die Verwaltung, auf der Hauptseite."
    ),
    "The jobs of others need `all`.": "Die Aufträge anderer brauchen `all`.",
    # Spaces and their sites.
    "A space with this slug exists.": "Einen Bereich mit diesem Kurznamen gibt es schon.",
    "The space needs a manager.": "Jemand muss den Bereich verwalten.",
    "A space has at most %s members.": "Ein Bereich hat höchstens %s Mitglieder.",
    "Only members may list the members of a public space.": (
        "Die Mitglieder eines öffentlichen Bereichs sehen nur seine Mitglieder."
    ),
    "Somebody else has changed this role in the meantime; read the members again.": (
        "Jemand anders hat diese Rolle inzwischen geändert; laden Sie die Mitglieder neu."
    ),
    "Somebody else has changed the members in the meantime; read them again.": (
        "Jemand anders hat die Mitglieder inzwischen geändert; laden Sie sie neu."
    ),
    "A site needs a domain to be served at.": "Eine Website braucht eine Domain.",
    "This is not a domain name.": "Das ist kein Name einer Domain.",
    "This is a host of the main site.": "Das ist eine Adresse der Hauptseite.",
    "Another space has this domain.": "Ein anderer Bereich hat diese Domain.",
    "The space has claimed another domain since.": (
        "Der Bereich hat inzwischen eine andere Domain beantragt."
    ),
    "You have claimed %s domains; remove one first.": (
        "Sie haben schon %s Domains beantragt; nehmen Sie zuerst eine zurück."
    ),
    "Somebody else has changed the look in the meantime; reload it.": (
        "Jemand anders hat das Aussehen inzwischen geändert; laden Sie es neu."
    ),
    "A site can have the languages %s.": "Eine Website kann diese Sprachen haben: %s.",
    "A link needs a label.": "Ein Link braucht einen Text.",
    "A label has no control characters.": "Der Text eines Links hat unerlaubte Zeichen.",
    "A link is a path like /p/…, or an http, https or mailto address.": (
        "Die Adresse eines Links beginnt mit /, http://, https:// oder mailto:."
    ),
    "Send a picture.": "Senden Sie ein Bild.",
    "This is no picture (PNG, JPEG, GIF, WebP, AVIF or SVG).": (
        "Das ist kein Bild (PNG, JPEG, GIF, WebP, AVIF oder SVG)."
    ),
    "A logo may have at most %s bytes.": "Ein Logo darf höchstens %s Byte haben.",
    "This site has no site map.": "Diese Website hat keine Sitemap.",
    "This site has no such site map.": "Diese Website hat diese Sitemap nicht.",
    "This site has no feed.": "Diese Website hat keinen Feed.",
    # Limits.
    "%s: this exceeds the limit, it %s (%s); %s, or ask an administrator for a higher limit.": (
        "%s: Das überschreitet die Grenze, %s (%s). %s, oder bitten Sie die Verwaltung um eine"
        " höhere Grenze."
    ),
    "the space": "Der Bereich",
    "your account": "Ihr Konto",
    "holds %s and may hold %s": "belegt sind %s, erlaubt %s",
    "has %s %s and may have %s": "vorhanden sind %s %s, erlaubt %s",
    "pages": "Seiten",
    "spaces": "Bereiche",
    "delete files or pages permanently": "Löschen Sie Dateien oder Seiten endgültig",
    "delete %s permanently": "Löschen Sie %s endgültig",
    "%s bytes": "%s Byte",
    "%s.%s kB": "%s,%s kB",
    "%s.%s MB": "%s,%s MB",
    "%s.%s GB": "%s,%s GB",
    "%s.%s TB": "%s,%s TB",
    # Links for others.
    "This link has expired.": "Dieser Link ist abgelaufen.",
    "This link has a password.": "Dieser Link hat ein Passwort.",
}
