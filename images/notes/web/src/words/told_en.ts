/** English, for the notifications. */
const rules = new Intl.PluralRules("en");
const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString("en")} ${rules.select(n) === "one" ? one : other}`;

export const en = {
  lead: "What happens on pages that you watch or wrote, and where somebody names you.",
  somebody: "Somebody",
  mention: (who: string, n: number) =>
    n > 1 ? `You were named ${count(n, "time", "times")}, the last by ${who}` : `${who} named you`,
  reply: (who: string, n: number) =>
    n > 1 ? `${count(n, "reply", "replies")}, the last by ${who}` : `${who} replied`,
  comment: (who: string, n: number) =>
    n > 1 ? `${count(n, "comment", "comments")}, the last by ${who}` : `${who} commented`,
  edit: (who: string, n: number) =>
    n > 1 ? `${count(n, "new version", "new versions")}, the last by ${who}` : `${who} changed it`,
  access: (who: string, _n: number) => `${who} gave you access`,
  isNew: "New",
  read: "Mark as read",
  readOf: (title: string) => `Mark as read: ${title}`,
  readAll: "Mark all as read",
  allRead: "All notifications are marked as read.",
  onlyUnread: "Only unread ones",
  nothing: "There is nothing yet.",
  nothingUnread: "There is nothing unread.",
  more: "Show more",
  kept: "Notifications are kept for 90 days.",
  wanted: "What you are told of",
};

export type ToldWords = typeof en;
