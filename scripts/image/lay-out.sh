#!/bin/sh
# Writes what the image holds into a folder: lay-out.sh <folder>. The Dockerfile runs it, and so does tests/image.long.test.ts.
# It needs Node 20 or later, npm, and strip (binutils).
set -eu
from=$(cd "$(dirname "$0")/../.." && pwd)
into=$1
# The numeric user of the image. Node keeps compiled code for each user apart.
user=10001

cd "$from"
npm ci --no-audit --no-fund --loglevel=error
node scripts/run.mjs apps/dashboard/build/main.ts

mkdir -p "$into"
tar --create --exclude=node_modules --exclude='*.test.ts' --exclude='*.test.tsx' package.json package-lock.json LICENSE NOTICE \
  apps/dashboard apps/server docs/clients packages | tar --extract --directory "$into"
cp -R node_modules "$into"

# The dashboard is built: its packages stay behind, and so do those of development. The manifests name what it was built of.
cd "$into"
npm pkg delete dependencies devDependencies --workspace=@millrace/dashboard
npm prune --omit=dev --no-audit --no-fund --loglevel=error
cp "$from/package-lock.json" package-lock.json
cp "$from/apps/dashboard/package.json" apps/dashboard/package.json
rm -rf node_modules/.cache node_modules/node-linux-*/include node_modules/node-linux-*/share

mkdir -p bin data
mv node_modules/node-linux-*/bin/node bin/node
strip bin/node
printf '#!/bin/sh\nexec /millrace/bin/node /millrace/apps/server/src/main.ts "$@"\n' >bin/millrace
chmod 755 bin/millrace
cp "$from/scripts/image/is-ready.mjs" bin/
chown "$user:$user" data

# A first start compiles the code; later ones, with a root that cannot be written, take it from here.
mkdir -p node_modules/.cache/code
chown "$user:$user" node_modules/.cache/code
