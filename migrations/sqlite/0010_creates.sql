ALTER TABLE `outbox` ADD `allow_double` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `outbox` ADD `elapsed_ms` BIGINT DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `outbox` ADD `elapsed_at` TIMESTAMP;