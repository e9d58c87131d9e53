ALTER TABLE "fields" ADD COLUMN "text_column" text;--> statement-breakpoint
ALTER TABLE "fields" ADD COLUMN "text_position" bigint;