/** English, for a space's settings, limits, domains, sign-on and sessions; loaded with these screens. */
import type { RoleName } from "../api/types";

const rules = new Intl.PluralRules("en");
const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString("en")} ${rules.select(n) === "one" ? one : other}`;
const named = (all: Record<string, string>): Record<string, string> => all;

export const en = {
  save: "Save",
  saved: "Saved.",
  add: "Add",
  // A new space.
  newSpaceText: "A space has its own pages, members and settings.",
  create: "Create",
  spaceMade: (name: string) => `The space ${name} is created.`,
  // The settings of a space.
  settingsOf: (name: string) => `Settings of ${name}`,
  general: "General",
  name: "Name",
  description: "Description",
  slug: "Short name",
  slugHint: "Small letters, digits and hyphens. Each space has another one.",
  members: "Members",
  membersText:
    "A group gives its role to all of its people. Of several roles a person has the highest.",
  everyone: "Everybody who signs in",
  everyoneText: "Also people who are not listed below.",
  roles: {
    none: "No access",
    viewer: "Reads",
    commenter: "Comments",
    editor: "Writes",
    manager: "Manages",
  } as Record<RoleName, string>,
  roleOf: (name: string) => `Role of ${name}`,
  group: "Group",
  removeMember: (name: string) => `Remove ${name}`,
  removeMemberAsk: (name: string) => `Remove ${name}? They lose what only members may see.`,
  removeSelfAsk: "Remove yourself? You cannot take that back by yourself.",
  lowerSelfAsk: "Give up managing this space? You cannot take that back by yourself.",
  giveUp: "Give up",
  memberAdded: (name: string) => `${name} is a member now.`,
  memberChanged: (name: string) => `The role of ${name} is changed.`,
  memberRemoved: (name: string) => `${name} is no longer a member.`,
  addMember: "Add a person or a group",
  findMember: "Name or e-mail address",
  found: (n: number) => count(n, "match", "matches"),
  nobodyFound: "Nobody who is not a member yet has this name or address.",
  chooseMember: "Whom to add",
  chooseFirst: "Choose a person or a group first.",
  role: "Role",
  askAdministrator: "An administrator adds people and groups to this space.",
  insiders: "Who sees the names of members and authors",
  insidersAll: "Everybody who signs in, since everybody has a role here.",
  insidersMembers: "The members above, and administrators. Readers of the public site do not.",
  site: "Site and domain",
  isPublic: "Anybody may read this space, without signing in",
  isPublicText: "Pages with permissions of their own stay closed.",
  domain: "Domain",
  domainHint: "For example docs.example.org. Empty: no domain.",
  isSite: "The site at this domain is on",
  certificate: "What the domain and its certificate need",
  dnsStep: (domain: string, host: string) =>
    `At the provider of ${domain}: a CNAME record to ${host}, or A and AAAA records with its addresses. The application cannot see if it is there.`,
  approvalStep: "An administrator approves the domain.",
  siteStep: "The site is on.",
  certificateStep:
    "Then the proxy gets the certificate at the first visit, if it asks this application for permission, or uses one that covers the domain.",
  signOnStep: (uri: string) => `For single sign-on there, register ${uri} with the provider.`,
  isDone: "Done",
  isMissing: "Missing",
  isOpen: "For you to check",
  isServed: (domain: string) => `${domain} shows this space. A certificate may be issued for it.`,
  notServed: (domain: string) => `${domain} is not served yet. No certificate is issued for it.`,
  use: "Use",
  bytes: "Storage",
  pages: "Pages",
  of: (used: string, limit: string) => `${used} of ${limit}`,
  useText: "Versions, files, comments and the trash count.",
  deletion: "Delete the space",
  deletionText:
    "All pages, their history, files, comments and links are deleted permanently, for everybody.",
  typeName: (name: string) => `Type the name of the space: ${name}`,
  wrongName: "This is not the name of the space.",
  deleteSpace: "Delete permanently",
  spaceDeleted: (name: string) => `The space ${name} is deleted.`,
  mainOnly: "The settings of a space are on the main site",
  notManager: "You do not manage this space",
  openSpace: "Open the space",
  refusals: named({}),
};

export type ManageWords = typeof en;
