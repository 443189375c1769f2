/**
 * A browser for tests of what knows one: its store in memory (IndexedDB, as far as it is used here), its cookies and its
 * requests. Imported before what is tested.
 *
 * As in a browser, a transaction that writes waits for those before it that share a store with it, and is over when a
 * turn has brought no request.
 */
type Key = string | number | readonly Key[];
interface Row {
  key: Key;
  value: Record<string, unknown>;
}

function compare(a: Key, b: Key): number {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
      const found = compare(a[at] as Key, b[at] as Key);
      if (found) return found;
    }
    return a.length - b.length;
  }
  const [rankA, rankB] = [a, b].map((one) => ["number", "string", "object"].indexOf(typeof one));
  if (rankA !== rankB) return (rankA as number) - (rankB as number);
  return a < b ? -1 : a > b ? 1 : 0;
}

class KeyRange {
  constructor(
    readonly lower: Key,
    readonly upper: Key,
  ) {}
  static bound = (lower: Key, upper: Key): KeyRange => new KeyRange(lower, upper);
}

class Request extends EventTarget {
  result: unknown;
  error: unknown = null;
}

class ObjectStore {
  constructor(
    readonly name: string,
    readonly work: Transaction,
  ) {}
  #ask(act: (rows: Row[], keyPath: string | string[]) => unknown): Request {
    const [rows, keyPath] = [disk.rows(this.name), disk.keyPaths.get(this.name) ?? ""];
    return this.work.ask(() => act(rows, keyPath));
  }
  #found = (rows: readonly Row[], query?: Key | KeyRange): Row[] =>
    rows
      .filter(({ key }) => {
        const { lower, upper } = query instanceof KeyRange ? query : { lower: query, upper: query };
        if (lower === undefined || upper === undefined) return true;
        return compare(lower, key) <= 0 && compare(key, upper) <= 0;
      })
      .sort((a, b) => compare(a.key, b.key));
  get = (key: Key) => this.#ask((rows) => structuredClone(this.#found(rows, key)[0]?.value));
  getAll = (query?: Key | KeyRange) =>
    this.#ask((rows) => this.#found(rows, query).map(({ value }) => structuredClone(value)));
  getKey = (key: Key) => this.#ask((rows) => this.#found(rows, key)[0]?.key);
  getAllKeys = () => this.#ask((rows) => this.#found(rows).map(({ key }) => key));
  index = (name: string): Index => new Index(name, this);
  count = (query?: Key | KeyRange) => this.#ask((rows) => this.#found(rows, query).length);
  put(given: Record<string, unknown>) {
    const value = structuredClone(given);
    return this.#ask((rows, path) => {
      const error = disk.refuses(this.name);
      if (error) throw error;
      const key = Array.isArray(path) ? path.map((one) => value[one] as Key) : (value[path] as Key);
      const before = this.#found(rows, key)[0];
      if (before) before.value = value;
      else rows.push({ key, value });
    });
  }
  delete(query: Key | KeyRange) {
    return this.#ask((rows) => {
      for (const one of this.#found(rows, query)) rows.splice(rows.indexOf(one), 1);
    });
  }
  clear = () => this.#ask((rows) => void rows.splice(0));
  createIndex = (): undefined => undefined;
}
// The library looks for the methods of a store there.
for (const name of ["get", "getKey", "getAll", "getAllKeys", "count", "clear"])
  Object.defineProperty(ObjectStore.prototype, name, { value: null, writable: true });

/** Of one property, whose name it has. */
class Index {
  constructor(
    readonly name: string,
    readonly store: ObjectStore,
  ) {}
  #ask(act: (row: Row) => unknown, key: Key): Request {
    const { work, name } = this.store;
    const isOf = (row: Row): boolean => row.value[this.name] === key;
    return work.ask(() => disk.rows(name).filter(isOf).map(act));
  }
  getAll = (key: Key) => this.#ask(({ value }) => structuredClone(value), key);
  getAllKeys = (key: Key) => this.#ask((row) => row.key, key);
}

for (const name of ["getAll", "getAllKeys"])
  Object.defineProperty(Index.prototype, name, { value: null, writable: true });

class Transaction extends EventTarget {
  error: unknown = null;
  asked: (() => void)[] | undefined = [];
  isQuiet = false;
  constructor(
    readonly objectStoreNames: readonly string[],
    readonly mode: string,
  ) {
    super();
  }
  objectStore = (name: string): ObjectStore => new ObjectStore(name, this);
  ask(act: () => unknown): Request {
    if (!this.asked) throw new DOMException("it is over", "TransactionInactiveError");
    const made = new Request();
    this.asked.push(() => {
      try {
        made.error = this.error && new DOMException("it has ended", "AbortError");
        if (!made.error) made.result = act();
      } catch (error) {
        made.error = this.error = error;
      }
      made.dispatchEvent(new Event(made.error ? "error" : "success"));
    });
    return made;
  }
}

class Database extends EventTarget {
  transaction(names: string | string[], mode = "readonly"): Transaction {
    const made = new Transaction([names].flat(), mode);
    disk.begin(made);
    return made;
  }
  createObjectStore(name: string, { keyPath }: { keyPath: string | string[] }) {
    disk.keyPaths.set(name, keyPath);
    return { createIndex: () => undefined };
  }
}

/** What is stored, and how fast. */
export const disk = {
  /** While true, no write ends. */
  isSlow: false,
  /** Why nothing can be put into the store of that name now; as in a browser, its transaction fails. */
  refuses: (_name: string): Error | undefined => undefined,
  keyPaths: new Map<string, string | string[]>(),
  stored: new Map<string, Row[]>(),
  begun: [] as Transaction[],
  rows(name: string): Row[] {
    if (!disk.stored.has(name)) disk.stored.set(name, []);
    return disk.stored.get(name) as Row[];
  },
  begin(work: Transaction): void {
    disk.begun.push(work);
    setImmediate(disk.turn);
  },
  turn(): void {
    for (const [at, work] of [...disk.begun].entries()) {
      const others = disk.begun.slice(0, at).filter((one) => one.asked);
      const isShared = (one: Transaction): boolean =>
        one.objectStoreNames.some((name) => work.objectStoreNames.includes(name));
      const writes = (one: Transaction): boolean => one.mode === "readwrite";
      if (others.some((one) => isShared(one) && (writes(one) || writes(work)))) continue;
      const asked = work.asked?.splice(0) ?? [];
      for (const act of asked) act();
      if (asked.length || !work.isQuiet) {
        work.isQuiet = !asked.length;
        continue;
      }
      if (disk.isSlow && writes(work)) continue;
      work.asked = undefined;
      work.dispatchEvent(new Event(work.error ? "abort" : "complete"));
    }
    disk.begun = disk.begun.filter((one) => one.asked);
    if (disk.begun.length) setTimeout(disk.turn, 1);
  },
};

let database: Database | undefined;
const indexedDB = {
  open(): Request {
    const made = new Request();
    setImmediate(() => {
      made.result = database ??= new Database();
      if (!disk.keyPaths.size)
        made.dispatchEvent(Object.assign(new Event("upgradeneeded"), { oldVersion: 0 }));
      made.dispatchEvent(new Event("success"));
    });
    return made;
  },
};

const cookies = new Map<string, string>();
/** The user whose sign-in the browser has; "" for nobody. */
export function signedInAs(user: string): void {
  cookies.set("notes-user", user);
  if (!user) cookies.delete("notes-user");
}

const nothing = (): undefined => undefined;
const ofTab = new Map<string, string>();
const element = { style: {}, dataset: {}, addEventListener: nothing };
const globals = {
  indexedDB,
  ...{ IDBRequest: Request, IDBTransaction: Transaction, IDBObjectStore: ObjectStore },
  ...{ IDBDatabase: Database, IDBKeyRange: KeyRange, IDBIndex: Index, IDBCursor: class {} },
  window: globalThis,
  addEventListener: nothing,
  location: { protocol: "http:", pathname: "/", search: "", hash: "", assign: nothing },
  history: { state: null, pushState: nothing, replaceState: nothing },
  sessionStorage: {
    getItem: (name: string) => ofTab.get(name) ?? null,
    setItem: (name: string, value: string) => void ofTab.set(name, value),
    removeItem: (name: string) => void ofTab.delete(name),
  },
  localStorage: { getItem: () => null, setItem: nothing },
  document: {
    ...{ visibilityState: "visible", documentElement: element, addEventListener: nothing },
    getElementById: () => null,
    get cookie(): string {
      return [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    },
    set cookie(given: string) {
      const [, name = "", value = ""] = /^([^=]*)=([^;]*)/.exec(given) ?? [];
      cookies.set(name, value);
    },
  },
};
for (const [name, value] of Object.entries(globals))
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
Object.defineProperty(navigator, "onLine", { value: true });

/** Waits so long that the store has done what it can do now. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) await new Promise((done) => setTimeout(done, 1));
}

/** Waits until something is true. */
export async function until(isTrue: () => unknown): Promise<void> {
  while (!(await isTrue())) await new Promise((done) => setTimeout(done, 5));
}
