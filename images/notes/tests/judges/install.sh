#!/bin/sh
# Installs the judges: Debian's servers and tools, and npm's identity provider, axe, Lighthouse and browser driver.
set -eu
need=""
for pair in haproxy:haproxy caddy:caddy chromium:chromium 7z:p7zip-full unzip:unzip curl:curl \
    node:nodejs npm:npm wrk:wrk cmark-gfm:cmark-gfm; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || need="$need ${pair#*:}"
done
test -x /usr/lib/postgresql/15/bin/postgres || need="$need postgresql-15"
if [ -n "$need" ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "these Debian packages are missing; install them, or run this as root:$need" >&2
        exit 1
    fi
    echo "installing$need"
    # The programs are wanted, not their services: this forbids to start them meanwhile.
    policy=/usr/sbin/policy-rc.d
    if ! [ -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' > "$policy"
        chmod +x "$policy"
    fi
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of package names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >/dev/null
fi
cd "$(dirname "$0")"
if ! cmp -s package-lock.json node_modules/.installed 2>/dev/null; then
    npm ci --silent --no-audit --no-fund --ignore-scripts
    cp package-lock.json node_modules/.installed
fi
