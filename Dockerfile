# docs/operations.md, "In a container", says how to run it.
#     docker build --tag millrace .

FROM node:24-bookworm-slim AS build
# libatomic1: the Node that the project pins needs it; the Node of this image does not, and so lacks it.
RUN apt-get update && apt-get install --yes --no-install-recommends binutils libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN sh scripts/image/lay-out.sh /millrace
RUN setpriv --reuid=10001 --regid=10001 --clear-groups sh scripts/image/warm-up.sh

FROM debian:bookworm-slim
# The Node in /millrace needs these two libraries.
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1 libstdc++6 && rm -rf /var/lib/apt/lists/*
COPY --from=build /millrace /millrace
ENV PATH=/millrace/bin:$PATH MILLRACE_HOST=0.0.0.0 MILLRACE_DATA_DIR=/millrace/data
USER 10001:10001
WORKDIR /millrace
VOLUME /millrace/data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s CMD ["node", "/millrace/bin/is-ready.mjs"]
ENTRYPOINT ["millrace"]
CMD ["start"]
