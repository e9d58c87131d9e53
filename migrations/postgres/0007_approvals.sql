ALTER TABLE "outbox" ADD COLUMN "pushed_by" text;--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "approved_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "approved_by" text;