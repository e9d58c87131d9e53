ALTER TABLE `outbox` ADD `pushed_by` text;--> statement-breakpoint
ALTER TABLE `plans` ADD `approved_at` TIMESTAMP;--> statement-breakpoint
ALTER TABLE `plans` ADD `approved_by` text;