import { defineConfig } from 'vitest/config';

/** `npm run test:browser`: the dashboard in a real browser, over both databases; it needs Chromium. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['./test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
