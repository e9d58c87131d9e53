FROM node:24-trixie-slim AS build
WORKDIR /app
# A layer of its own: a change of a source file installs nothing again.
COPY package.json package-lock.json ./
COPY scripts/node ./scripts/node
RUN npm ci --include=dev --ignore-scripts && rm -rf ~/.npm
COPY tsconfig.json ./
COPY scripts ./scripts
COPY sandbox ./sandbox
COPY src ./src
RUN npm run build

# What the bundle loads from node_modules; of SQLite's driver not what other systems need.
FROM node:24-trixie-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/node ./scripts/node
RUN npm ci --omit=dev --ignore-scripts && cd node_modules/better-sqlite3 && rm -rf deps src \
  && find prebuilds -type f ! -path '*linux*' -delete

FROM node:24-trixie-slim
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY package.json ./
COPY migrations ./migrations
COPY src/dashboard/assets ./src/dashboard/assets
COPY src/features/reports/catalogue ./src/features/reports/catalogue
# What error messages point to.
COPY config ./config
COPY --from=build /app/dist ./dist
# `bms-sync …` by hand: docker exec CONTAINER bms-sync status
# OpenShift runs it as any user of group 0, so that the group may do in data what the owner may.
RUN chmod +x dist/main.js && ln -s /app/dist/main.js /usr/local/bin/bms-sync && install -d -o node -g 0 -m 770 data
# Settings are read from the environment and from /app/.env; a SQLite mirror is /app/data/mirror.db. Nothing else is written:
# the container may be read-only. HOST=0.0.0.0 opens the port to other containers, and wants ADMIN_TOKEN.
VOLUME /app/data
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
# Bringing a large mirror to the shape of a new release comes before the first answer.
HEALTHCHECK --interval=30s --timeout=5s --start-period=5m --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["bms-sync"]
CMD ["serve"]
