import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: './src/mirror/tables/sqlite-schema.ts',
  out: './migrations/sqlite',
});
