import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: './scripts/migrations/sqlite-schema.ts',
  out: './migrations/sqlite',
});
