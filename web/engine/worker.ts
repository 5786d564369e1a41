/** The script of the threads that run models. */
import { EXPORTS, ModelSession } from "./model-session.js";
import { serve } from "./serve.js";

serve(ModelSession.open, EXPORTS);
