# Two stages: the first has the compiler that SQLite may need, the second has none.
FROM node:26-trixie AS build
WORKDIR /app
COPY package.json package-lock.json ./
# SQLite has the only install script that the program needs; the others belong to the tests.
RUN npm ci --ignore-scripts && npm rebuild better-sqlite3
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
# Of SQLite's driver only the addon is needed: its sources and objects are 25 MB.
RUN npm run build && chmod +x dist/main.js && npm prune --omit=dev --ignore-scripts \
  && cd node_modules/better-sqlite3 && rm -rf deps src && find build -type f ! -name better_sqlite3.node -delete

FROM node:26-trixie-slim
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY package.json ./
COPY migrations ./migrations
COPY assets ./assets
# What error messages point to.
COPY config ./config
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# `bms-sync …` by hand: docker exec CONTAINER bms-sync status
RUN ln -s /app/dist/main.js /usr/local/bin/bms-sync && install -d -o node -g node data
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
