# Each step can be run by hand in a clean directory. The image has the npm package as it is published, with its dependencies.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# So that one dependency puts no notes for coding assistants into the image.
ENV AX_SKIP_SKILL_INSTALL=1
RUN npm ci
COPY LICENSE README.md app.yml tsconfig.json tsconfig.build.json ./
COPY chains ./chains
COPY docs/schema ./docs/schema
COPY migrations ./migrations
COPY scripts ./scripts
COPY skills ./skills
COPY src ./src
COPY studio ./studio
RUN npm run package \
  && cd package \
  && npm ci --omit=dev --ignore-scripts --prefer-offline \
  && node ../scripts/prune-packages.ts node_modules

# What the app runs on: of Debian only what it uses (docs/adr/0067-the-image-has-no-distribution.md). The shell, unshare and prlimit start
# and limit its child processes, Node needs libatomic1 on some processors, and busybox is for people (docker exec).
FROM debian:bookworm-slim AS root
WORKDIR /debs
RUN apt-get update \
  && apt-get install --yes --no-install-recommends binutils \
  && apt-get download \
    base-files busybox dash gcc-12-base libatomic1 libc6 libgcc-s1 libsmartcols1 libstdc++6 util-linux
COPY scripts/image-root /usr/local/bin/
RUN image-root /debs /image \
  && mkdir -p /image/app/data /image/home/node \
  && chown 1000:1000 /image/app/data /image/home/node
# Node alone: the image that it comes from also has npm and yarn, which nothing here runs. Its symbols are only read by debuggers. The last
# line fails if a library is missing.
COPY --from=build /usr/local/bin/node /image/usr/local/bin/node
RUN strip /image/usr/local/bin/node \
  && chroot /image /bin/sh -c 'node --version && unshare --version && prlimit --version'

FROM scratch
COPY --from=root /image /
WORKDIR /app
COPY --from=build /app/package ./
USER node
ENV PATH=/usr/local/bin:/usr/bin
ENV HOST=0.0.0.0 PORT=3000
# What the C library frees returns to the system: two arenas instead of one for each thread, and blocks from 64 KB on are mapped alone.
ENV MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072 MALLOC_MMAP_THRESHOLD_=65536
VOLUME /app/data
# The metrics are on port 9464 of the container's own loopback. METRICS_HOST=0.0.0.0 opens that port to the container's network, or
# METRICS_TOKEN shows them on port 3000 to whoever sends it.
EXPOSE 3000
# /healthz and not /readyz: some programs restart an unhealthy container, and that frees no disk.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# By its whole path, so that it can be started in a folder that is mounted (docker run -w). No core dumps, as the keys are in the memory.
CMD ["sh", "-c", "ulimit -c 0; exec node --max-semi-space-size=2 --heap-growing-percent=80 /app/dist/main.js"]
