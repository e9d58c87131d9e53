ALTER TABLE "plans" ADD COLUMN "closed_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "closed_by" text;--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "reason" text;