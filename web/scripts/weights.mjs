/** The files of weights/ that the page loads, without their ending. */
export const WEIGHTS = ["digits", "digits-int8", "digits-stem", "digits-large", "myvit", "numbers", "photos-int8"];
