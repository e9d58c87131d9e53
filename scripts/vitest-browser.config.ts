import { defineConfig } from 'vitest/config';

/** `npm run test:browser`: the dashboard in a real browser; it needs Chromium, and none of the other tests' servers. */
export default defineConfig({
  test: { include: ['test/browser/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 120_000 },
});
