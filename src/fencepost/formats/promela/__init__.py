"""Programs written as Promela, the language of Spin."""
