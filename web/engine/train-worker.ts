/** The script of the threads that train. */
import { serve } from "./serve.js";
import { TRAINING_EXPORTS, TrainingSession } from "./training-session.js";

serve(TrainingSession.open, TRAINING_EXPORTS);
