import { defineConfig } from 'vite'

const BASE = '/ui/'

export default defineConfig({
  root: import.meta.dirname,
  base: BASE,
  // Files go into the pages as they are named: nothing is copied beside them.
  publicDir: false,
  logLevel: 'warn',
  build: {
    assetsDir: 'assets',
    // Inlined files would need `data:` in more of the Content-Security-Policy than pictures.
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // build/sizes.ts judges what browsers load.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What every first screen needs, and Home, comes in a few files; as small as they would be, sixty requests in two rounds.
          groups: [
            { name: 'libraries', test: /\/node_modules\/|\/src\/theme\//, tags: ['$initial'] },
            { name: 'home', test: /\/pages\/home\/home-page\.tsx$/ },
          ],
        },
      },
      onwarn(warning, warn) {
        // "use client", in each file of libraries that may also render on a server.
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning)
      },
    },
  },
})
