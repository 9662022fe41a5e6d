# The official image runs TypeScript as it stands: there is no build step, only production dependencies. Its version is the
# one that the tests run on; docs/operating.md tells how to pin it by its digest.
ARG NODE_IMAGE=node:24.21.0-slim
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title=payops org.opencontainers.image.version=1.0.0 org.opencontainers.image.licenses=MIT
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY src src
COPY openapi/services openapi/services
RUN mkdir data cache && chown 10001:10001 data cache
# A number, so that Kubernetes can check runAsNonRoot.
USER 10001:10001
# In the image, so that a read-only root has it too.
ENV NODE_COMPILE_CACHE=/app/cache
# It ends for want of settings, having read every file, and leaves the compile cache to every start of this user after
# it. Anything else that it says, or no cache, fails the build.
RUN said="$(node --max-semi-space-size=8 --heap-growing-percent=50 src/start.js 2>&1)"; echo "$said"; \
  echo "$said" | grep -qx 'Payops cannot start. The settings have problems:' && test -n "$(find cache -type f)"
ENV DATA_DIR=/app/data
VOLUME /app/data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# With a young generation of 8 MB commands cost a tenth more; with Node's own the bot under load is larger and no faster.
# The old generation is collected once it has grown by half: Node's own rule lets garbage of hours of steady load pile up.
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=50", "src/start.js"]
