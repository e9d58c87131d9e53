ALTER TABLE `plans` ADD `closed_at` TIMESTAMP;--> statement-breakpoint
ALTER TABLE `plans` ADD `closed_by` text;--> statement-breakpoint
ALTER TABLE `plans` ADD `reason` text;