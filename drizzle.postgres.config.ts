import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/mirror/tables/postgres-schema.ts',
  out: './migrations/postgres',
});
