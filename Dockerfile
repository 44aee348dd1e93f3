# Each step can be run by hand in a clean directory: npm ci, npm run build, npm prune, node dist/main.js.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# So that one dependency puts no notes for coding assistants into the image.
ENV AX_SKIP_SKILL_INSTALL=1
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.ts ./scripts/
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json app.yml ./
COPY chains ./chains
COPY skills ./skills
COPY migrations ./migrations
RUN mkdir /app/data && chown node:node /app/data
USER node
ENV HOST=0.0.0.0 PORT=3000
# What the C library frees returns to the system: two arenas instead of one for each thread, and blocks from 64 KB on are mapped alone.
ENV MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072 MALLOC_MMAP_THRESHOLD_=65536
VOLUME /app/data
# The metrics are on port 9464 of the container's own loopback. METRICS_HOST=0.0.0.0 opens that port to the container's network, or
# METRICS_TOKEN shows them on port 3000 to whoever sends it.
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# By its whole path, so that it can be started in a folder that is mounted (docker run -w). No core dumps, as the keys are in the memory.
CMD ["sh", "-c", "ulimit -c 0; exec node --max-semi-space-size=2 --heap-growing-percent=80 /app/dist/main.js"]
