import { defineConfig } from 'vitest/config';
import solid from 'vite-plugin-solid';

/** The policy the shell sets in tauri.conf.json, so that a browser preview breaks where the app would. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
].join('; ');

export default defineConfig({
  plugins: [solid()],
  clearScreen: false,
  server: {
    port: 5173,
    strictPort: true,
    // Tests read from the Rust sources which characters they escape, and which commands there are.
    fs: { allow: ['.', '../docs', '../src-tauri/crates', '../src-tauri/src'] },
  },
  preview: { headers: { 'Content-Security-Policy': policy } },
  build: {
    // WebKitGTK, WKWebView and WebView2 of the oldest systems we support.
    target: ['es2022', 'safari16'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: { input: ['index.html', 'crashed.html'] },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    restoreMocks: true,
    testTimeout: 30_000,
    // One browser for all files: each cleans up after itself, and starting one costs more than a test.
    isolate: false,
    pool: 'threads',
  },
});
