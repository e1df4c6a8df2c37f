import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * One mode a bundle: `vite build` makes `dist/parts/app.js` and `app.css`, `vite build --mode worker`
 * makes `worker.js`. Both are classic scripts, because a page from `file://` loads no modules.
 * `build/assemble.mjs` puts them together.
 */
export default defineConfig(({ mode }) => {
  const worker = mode === "worker";
  return {
    // The glue that wasm-bindgen writes; `make lab` puts it there.
    resolve: { alias: { "spillgate-wasm": here("./dist/wasm/spillgate_wasm.js") } },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    publicDir: false,
    // Pages offer the repository's examples.
    server: { fs: { allow: [here("..")] } },
    build: {
      outDir: "dist/parts",
      emptyOutDir: false,
      target: "es2022",
      modulePreload: false,
      cssCodeSplit: false,
      assetsInlineLimit: 100_000_000,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2000,
      rolldownOptions: {
        input: here(worker ? "./src/engine/worker.ts" : "./src/main.tsx"),
        output: {
          format: "iife",
          name: worker ? "spillgateWorker" : "spillgateApp",
          entryFileNames: worker ? "worker.js" : "app.js",
          assetFileNames: "app[extname]",
        },
      },
    },
    test: {
      testTimeout: 30_000,
      hookTimeout: 60_000,
      projects: [
        {
          extends: true,
          test: {
            name: "unit",
            include: ["src/**/*.test.{ts,tsx}", "tests/{unit,module}/**/*.test.{ts,tsx}"],
          },
        },
        // One browser at a time, after the units.
        {
          extends: true,
          test: {
            name: "e2e",
            // A machine that builds beside it is late now and then, and not twice in a row.
            retry: 1,
            expect: { poll: { timeout: 20_000 } },
            include: ["tests/e2e/**/*.test.ts"],
            fileParallelism: false,
            sequence: { groupOrder: 1 },
          },
        },
      ],
    },
  };
});
