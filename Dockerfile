# Two stages: SQLite is compiled in the first, and no compiler is left in the second.
FROM node:24-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY migrations ./migrations
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production DATABASE_URL=file:/data/mirror.db
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/migrations ./migrations
COPY --from=build /app/package.json ./package.json
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--enable-source-maps", "dist/main.js"]
CMD ["pull"]
